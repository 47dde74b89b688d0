/** Asks a vendor about our key by one call that costs nothing. */
import { CallBroke, detailOf, type VendorResponse } from './vendor-http.ts';
import type { CredentialCheck, VendorSettings } from './vendor.ts';

/**
 * @param call sends one request that the vendor answers well only when the key is valid
 * @param judge reads the vendor's answer; absent for a vendor whose statuses mean what HTTP says
 * @throws what the signal of the call aborts with
 */
export async function checkByCall(
  { name, credentials }: VendorSettings,
  call: (key: string) => Promise<VendorResponse>,
  judge: (response: VendorResponse) => CredentialCheck = judgeByStatus,
): Promise<CredentialCheck> {
  const key = await credentials.read(name);
  if (key === undefined) return { verdict: 'unchecked', detail: 'no credential' };
  try {
    return judge(await call(key));
  } catch (error) {
    if (!(error instanceof CallBroke)) throw error;
    return { verdict: 'unreachable', detail: error.code };
  }
}

function judgeByStatus(response: VendorResponse): CredentialCheck {
  return { verdict: verdictOn(response.status), detail: detailOf(response) };
}

function verdictOn(status: number): CredentialCheck['verdict'] {
  if (status >= 200 && status < 300) return 'accepted';
  if ([401, 402, 403].includes(status)) return 'refused';
  return status === 429 || status >= 500 ? 'unreachable' : 'unchecked';
}
