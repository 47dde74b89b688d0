/** A secret of plain text in Secrets Manager, such as the secret of the portal's origin. */
import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type { Clock } from '../core/ports/runtime.ts';
import { readSecretValue } from './secret-value.ts';

const cacheMillis = 5 * 60_000;

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

/** Keeps a secret for five minutes. */
export function heldFor(clock: Pick<Clock, 'now'>, read: () => Promise<string>): () => Promise<string> {
  let held: { readonly text: string; readonly until: number } | undefined;
  return async () => {
    if (held && held.until > clock.now()) return held.text;
    const text = await read();
    held = { text, until: clock.now() + cacheMillis };
    return text;
  };
}
