/**
 * Replicate calls back when a prediction has ended, and signs the call with a secret that belongs to the
 * account. So the secret also proves the account. The secret is read with our token.
 *
 * @see https://replicate.com/docs/topics/webhooks/verify-webhook (read 2026-11-22)
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import {
  bodyFieldsOf,
  type CallbackKeys,
  createCallbackKeys,
  headerOf,
  isTimely,
  refusedCallback,
} from '../callback-keys.ts';
import type {
  CallbackRequest,
  CallbackVerdict,
  ProviderCallback,
  ProviderCredentials,
  VendorSettings,
} from '../provider.ts';
import { fieldsOf, type VendorHttp } from '../vendor-http.ts';
import { neededFor, refusedCredentials } from '../vendor-jobs.ts';

/** The signed text joins its parts by full stops, so that a full stop in an id would make it ambiguous. */
const idForm = /^[^\s.]{1,256}$/;
const jobIdForm = /^\w+$/;
/** A secret of fewer than 16 bytes is not accepted: anybody can forge an HMAC with an empty key. */
const secretForm = /^whsec_([A-Za-z0-9+/]{22,}={0,2})$/;

interface Access {
  readonly settings: Pick<VendorSettings, 'name' | 'credentials' | 'clock'>;
  readonly api: VendorHttp;
}

export function createReplicateCallback({ settings, api }: Access): ProviderCallback {
  const { name, credentials, clock } = settings;
  const secret = createCallbackKeys({ clock, ask: (signal) => askForSecret(name, credentials, api, signal) });
  return {
    ready: async (signal) => (await secret.read(signal)) !== undefined,
    verify: (request, nowMillis, signal) => verify(secret, request, nowMillis, signal),
    isJob: (acceptedId, calledId) => neededFor(acceptedId)[0] === calledId,
  };
}

async function verify(
  secret: CallbackKeys<Buffer>,
  request: CallbackRequest,
  nowMillis: number,
  signal: AbortSignal,
): Promise<CallbackVerdict> {
  const [id, time, list] = ['id', 'timestamp', 'signature'].map((part) =>
    headerOf(request, `webhook-${part}`),
  );
  if (id === undefined || time === undefined || list === undefined)
    return refusedCallback('a header is missing');
  if (!idForm.test(id)) return refusedCallback('a header has an unknown form');
  if (!isTimely(time, nowMillis)) return refusedCallback('its time is more than 5 minutes away');
  const signatures = signaturesIn(list);
  const verdict = await secret.check((key) => {
    const due = createHmac('sha256', key).update(`${id}.${time}.`).update(request.body).digest();
    return signatures.some((one) => one.byteLength === due.byteLength && timingSafeEqual(one, due));
  }, signal);
  if (verdict === 'unverifiable') return { kind: 'unverifiable' };
  if (verdict === 'wrong_signature') return refusedCallback('the signature is wrong');
  const { id: jobId } = bodyFieldsOf(request);
  return typeof jobId === 'string' && jobIdForm.test(jobId)
    ? { kind: 'genuine', jobId }
    : refusedCallback('the body names no job');
}

/** "v1,BASE64 v1,BASE64": while the vendor changes its secret, it signs with the old and the new one. */
function signaturesIn(list: string): readonly Buffer[] {
  return list
    .split(' ')
    .filter((entry) => entry.startsWith('v1,'))
    .map((entry) => Buffer.from(entry.slice('v1,'.length), 'base64'));
}

async function askForSecret(
  name: string,
  credentials: ProviderCredentials,
  api: VendorHttp,
  signal: AbortSignal,
): Promise<Buffer | undefined> {
  const token = await credentials.read(name);
  if (token === undefined) return undefined;
  const response = await api.call({
    method: 'GET',
    to: '/v1/webhooks/default/secret',
    headers: { authorization: `Bearer ${token}` },
    signal,
  });
  if (refusedCredentials(response, credentials, name) || response.status !== 200) return undefined;
  const { key } = fieldsOf(response.json);
  const encoded = typeof key === 'string' ? secretForm.exec(key)?.[1] : undefined;
  return encoded === undefined ? undefined : Buffer.from(encoded, 'base64');
}
