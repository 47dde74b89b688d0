/** Asks a vendor about a credential by one call that costs nothing. */
import { CallBroke, detailOf, type VendorResponse } from './vendor-http.ts';
import type { CredentialCheck, VendorSettings } from './vendor-settings.ts';

/** `call` must be one that the vendor answers only to a valid key. Throws when its signal aborts. */
export async function checkByCall(
  settings: VendorSettings,
  name: string,
  call: (key: string) => Promise<VendorResponse>,
): Promise<CredentialCheck> {
  const key = await settings.credentials.read(name);
  if (key === undefined) return { verdict: 'unchecked', detail: 'no credential' };
  try {
    const response = await call(key);
    return { verdict: verdictOn(response.status), detail: detailOf(response) };
  } catch (error) {
    if (!(error instanceof CallBroke)) throw error;
    return { verdict: 'unreachable', detail: error.code };
  }
}

function verdictOn(status: number): CredentialCheck['verdict'] {
  if (status >= 200 && status < 300) return 'accepted';
  if ([401, 402, 403].includes(status)) return 'refused';
  return status === 429 || status >= 500 ? 'unreachable' : 'unchecked';
}
