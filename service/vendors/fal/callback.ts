/**
 * fal calls back when a request has ended, and signs the call. The signature proves only that fal sent it:
 * every account of fal can have fal call our address. So the account is pinned by the operator.
 *
 * @see https://docs.fal.ai/documentation/model-apis/inference/webhooks (read 2026-11-22)
 */
import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';
import {
  bodyFieldsOf,
  type CallbackKeys,
  createCallbackKeys,
  headerOf,
  isTimely,
  refusedCallback,
} from '../callback-keys.ts';
import {
  callbackAccountOf,
  type CallbackRequest,
  type CallbackVerdict,
  CredentialsUnreadable,
  type ProviderCallback,
  type ProviderCredentials,
  type VendorSettings,
} from '../provider.ts';
import { createVendorHttp, fieldsOf, listOf, type VendorHttp } from '../vendor-http.ts';
import { neededFor } from '../vendor-jobs.ts';

/** The public keys lie on another host than the queue. */
const keysUrl = 'https://rest.fal.ai';

/** fal uses UUIDs. A line break in an id would make the signed text ambiguous. */
const idForm = /^[\w-]{1,128}$/;
const signatureForm = /^[0-9a-f]{128}$/i;

export function createFalCallback({ name, credentials, clock, baseUrl }: VendorSettings): ProviderCallback {
  const http = createVendorHttp({ baseUrl: baseUrl ?? keysUrl, hosts: [] });
  const keys = createCallbackKeys({ clock, ask: (signal) => askForKeys(http, signal) });
  return {
    ready: async (signal) => {
      signal.throwIfAborted();
      return (await pinnedAccount(name, credentials)).kind === 'pinned';
    },
    verify: async (request, nowMillis, signal) => {
      signal.throwIfAborted();
      const pinned = await pinnedAccount(name, credentials);
      switch (pinned.kind) {
        case 'pinned':
          return verifyFor(pinned.account, keys, request, nowMillis, signal);
        case 'unpinned':
          return refusedCallback('no account is pinned');
        case 'unreadable':
          return { kind: 'unverifiable' };
      }
    },
    isJob: (acceptedId, calledId) => requestOf(acceptedId) === calledId,
  };
}

type Pinned =
  | { readonly kind: 'pinned'; readonly account: string }
  | { readonly kind: 'unpinned' }
  | { readonly kind: 'unreadable' };

async function pinnedAccount(name: string, credentials: ProviderCredentials): Promise<Pinned> {
  try {
    const account = await credentials.read(callbackAccountOf(name));
    return account === undefined ? { kind: 'unpinned' } : { kind: 'pinned', account };
  } catch (error) {
    if (error instanceof CredentialsUnreadable) return { kind: 'unreadable' };
    throw error;
  }
}

async function verifyFor(
  account: string,
  keys: CallbackKeys<readonly KeyObject[]>,
  request: CallbackRequest,
  nowMillis: number,
  signal: AbortSignal,
): Promise<CallbackVerdict> {
  const [id, user, time, signature] = ['request-id', 'user-id', 'timestamp', 'signature'].map((part) =>
    headerOf(request, `x-fal-webhook-${part}`),
  );
  if (id === undefined || user === undefined || time === undefined || signature === undefined)
    return refusedCallback('a header is missing');
  if (!idForm.test(id) || !signatureForm.test(signature))
    return refusedCallback('a header has an unknown form');
  // The account is no secret, so this comparison need not take constant time.
  if (user !== account) return refusedCallback('another account');
  if (!isTimely(time, nowMillis)) return refusedCallback('its time is more than 5 minutes away');
  const digest = createHash('sha256').update(request.body).digest('hex');
  const signed = Buffer.from([id, user, time, digest].join('\n'));
  const bytes = Buffer.from(signature, 'hex');
  const verdict = await keys.check((all) => all.some((key) => verify(null, signed, key, bytes)), signal);
  if (verdict === 'unverifiable') return { kind: 'unverifiable' };
  if (verdict === 'wrong_signature') return refusedCallback('the signature is wrong');
  return bodyFieldsOf(request)['request_id'] === id
    ? { kind: 'genuine', jobId: id }
    : refusedCallback('the body names another job than the header');
}

/** All keys count. Undefined: the answer holds no usable key. */
async function askForKeys(http: VendorHttp, signal: AbortSignal): Promise<readonly KeyObject[] | undefined> {
  const response = await http.call({ method: 'GET', to: '/.well-known/jwks.json', signal });
  if (response.status !== 200) return undefined;
  const keys = listOf(fieldsOf(response.json)['keys']).flatMap(keyOf);
  return keys.length > 0 ? keys : undefined;
}

function keyOf(entry: unknown): KeyObject[] {
  const { x, crv = 'Ed25519' } = fieldsOf(entry);
  if (typeof x !== 'string' || crv !== 'Ed25519') return [];
  try {
    return [createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })];
  } catch {
    return [];
  }
}

/** The addresses of a request end with its id. Undefined: the job id has another form. */
function requestOf(acceptedId: string): string | undefined {
  const [, result = ''] = neededFor(acceptedId);
  return /\/requests\/([\w-]+)$/.exec(result)?.[1];
}
