/** How the fake of fal signs its callbacks. */
import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import type { CallbackRequest } from '../../../../service/vendors/provider.ts';
import type { CallbackOptions, KeySource } from '../calls-back.ts';
import type { Fields, Reply } from '../fake-vendor.ts';

/** The account that the key of the fake belongs to. */
export const fakeFalAccount = 'github|1234567';

/** fal's documents name the first two. The rest is a guess: "with back-off, at most 31 times". */
export const falRepeats: readonly number[] = [15_000, 120_000, ...Array.from({ length: 28 }, () => 120_000)];

interface Pair {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

export interface FalSigner {
  sign(id: string, body: Fields, options: CallbackOptions): CallbackRequest;
  /** The answer to a request for the public keys. */
  keys(): Reply;
  readonly source: KeySource;
}

export function createFalSigner(): FalSigner {
  // A second key that never signs, because fal names several keys at once.
  const idle = generateKeyPairSync('ed25519');
  let pair: Pair = generateKeyPairSync('ed25519');
  let source: 'here' | 'away' | 'empty' = 'here';
  return {
    sign: (id, body, { at = Date.now(), hasWrongKey = false, account = fakeFalAccount }) => {
      const bytes = Buffer.from(JSON.stringify(body));
      const time = String(Math.floor(at / 1_000));
      const text = [id, account, time, createHash('sha256').update(bytes).digest('hex')].join('\n');
      const { privateKey } = hasWrongKey ? generateKeyPairSync('ed25519') : pair;
      return {
        headers: {
          'x-fal-webhook-request-id': id,
          'x-fal-webhook-user-id': account,
          'x-fal-webhook-timestamp': time,
          'x-fal-webhook-signature': sign(null, Buffer.from(text), privateKey).toString('hex'),
        },
        body: bytes,
      };
    },
    keys: () => {
      if (source === 'away') return { status: 503, body: { detail: 'Service unavailable' } };
      const keys = [idle, pair].map(({ publicKey }) => publicKey.export({ format: 'jwk' }));
      return { status: 200, body: { keys: source === 'empty' ? [] : keys } };
    },
    source: {
      changeKey: () => void (pair = generateKeyPairSync('ed25519')),
      keySource: (state) => void (source = state),
    },
  };
}
