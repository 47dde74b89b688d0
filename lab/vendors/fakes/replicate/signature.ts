/** How the fake of Replicate signs its callbacks. */
import { createHmac, randomBytes } from 'node:crypto';
import type { CallbackRequest } from '../../../../service/vendors/provider.ts';
import type { CallbackOptions, KeySource } from '../calls-back.ts';
import type { Fields, Reply } from '../fake-vendor.ts';

/** The vendor gives up about a minute after the end of the prediction. The steps are a guess. */
export const replicateRepeats: readonly number[] = [2_000, 4_000, 8_000, 16_000, 30_000];

export interface ReplicateSigner {
  /** The id of a callback stays the same when the callback is repeated. */
  sign(jobId: string, body: Fields, options: CallbackOptions): CallbackRequest;
  /** The answer to a request for the secret. */
  secret(): Reply;
  readonly source: KeySource;
}

export function createReplicateSigner(): ReplicateSigner {
  let key = randomBytes(24);
  let source: 'here' | 'away' | 'empty' = 'here';
  return {
    sign: (jobId, body, { at = Date.now(), hasWrongKey = false }) => {
      const bytes = Buffer.from(JSON.stringify(body));
      const id = `msg_${jobId}`;
      const time = String(Math.floor(at / 1_000));
      const signature = createHmac('sha256', hasWrongKey ? randomBytes(24) : key)
        .update(`${id}.${time}.`)
        .update(bytes)
        .digest('base64');
      return {
        headers: {
          'webhook-id': id,
          'webhook-timestamp': time,
          'webhook-signature': `v1,${signature}`,
        },
        body: bytes,
      };
    },
    secret: () => {
      if (source === 'away') return { status: 503, body: { detail: 'Service unavailable', status: 503 } };
      return { status: 200, body: source === 'empty' ? {} : { key: `whsec_${key.toString('base64')}` } };
    },
    source: { changeKey: () => void (key = randomBytes(24)), keySource: (state) => void (source = state) },
  };
}
