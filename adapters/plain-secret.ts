/** A secret of plain text in Secrets Manager, such as the secret of the portal's origin. */
import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type { Clock } from '../core/ports/runtime.ts';
import { readSecretValue } from './secret-value.ts';

const cacheMillis = 5 * 60_000;
const failureMillis = 1_000;

/** Reads the secret at most once in five minutes. Throws Overloaded when Secrets Manager stayed busy. */
export function createPlainSecret({
  client,
  secretArn,
  clock,
}: {
  readonly client: SecretsManagerClient;
  readonly secretArn: string;
  readonly clock: Pick<Clock, 'now'>;
}): () => Promise<string> {
  return heldFor(clock, async () => {
    const answer = await readSecretValue(client, { SecretId: secretArn });
    return answer.SecretString ?? '';
  });
}

/**
 * Keeps what was read for five minutes, and a failure for one second. So a flood of requests does not cost a call for
 * each of them, also while Secrets Manager fails.
 */
export function heldFor<Value>(clock: Pick<Clock, 'now'>, read: () => Promise<Value>): () => Promise<Value> {
  let held: { readonly value: Promise<Value>; until: number } | undefined;
  return async () => {
    if (held && held.until > clock.now()) return held.value;
    const reading = { value: read(), until: clock.now() + cacheMillis };
    held = reading;
    try {
      return await reading.value;
    } catch (error) {
      reading.until = clock.now() + failureMillis;
      throw error;
    }
  };
}
