/** A secret of plain text in Secrets Manager, such as the client secret of the portal. */
import {
  GetSecretValueCommand,
  type GetSecretValueCommandInput,
  type GetSecretValueCommandOutput,
  type SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { Overloaded } from '../values/errors.ts';
import type { Clock } from '../values/runtime.ts';
import { isShed } from './dynamodb/send.ts';

// Reads a value of Secrets Manager.

/** Throws Overloaded when Secrets Manager throttled every try: the same request may succeed a moment later. */
export async function readSecretValue(
  client: SecretsManagerClient,
  input: GetSecretValueCommandInput,
): Promise<GetSecretValueCommandOutput> {
  try {
    return await client.send(new GetSecretValueCommand(input));
  } catch (error) {
    throw isShed(error) ? new Overloaded('Secrets Manager stayed busy', { cause: error }) : error;
  }
}

const cacheMillis = 5 * 60_000;

interface SecretAccess {
  readonly client: SecretsManagerClient;
  readonly secretArn: string;
  readonly clock: Pick<Clock, 'now'>;
}

/** The labels of Secrets Manager for the newest value of a secret and for the value before it. */
export type Stage = 'AWSCURRENT' | 'AWSPREVIOUS';

/** Reads the secret at most once in five minutes. Throws Overloaded when Secrets Manager stayed busy. */
export function createPlainSecret({ client, secretArn, clock }: SecretAccess): () => Promise<string> {
  return heldFor(clock, async () => {
    const answer = await readSecretValue(client, { SecretId: secretArn });
    return answer.SecretString ?? '';
  });
}

/** The values that are valid while a secret is replaced. Reads them at most once in five minutes, and throws likewise. */
export function createReplaceableSecret({
  client,
  secretArn,
  clock,
}: SecretAccess): () => Promise<readonly string[]> {
  return validValues(clock, async (stage) => {
    try {
      const answer = await readSecretValue(client, { SecretId: secretArn, VersionStage: stage });
      return answer.SecretString ?? '';
    } catch (error) {
      if (stage === 'AWSPREVIOUS' && error instanceof Error && error.name === noSuchVersion) return '';
      throw error;
    }
  });
}

/** The name of the error by which Secrets Manager says that a secret has no version of this label. */
export const noSuchVersion = 'ResourceNotFoundException';

/**
 * The newest value of a secret, and the value before it if there is one. The newest value is read first: a
 * replacement between the two reads then costs the newest value and never the value that is still sent.
 * @param read gives an empty text when the secret has no value before the newest one
 */
export function validValues(
  clock: Pick<Clock, 'now'>,
  read: (stage: Stage) => Promise<string>,
): () => Promise<readonly string[]> {
  return heldFor(clock, async () => {
    const current = await read('AWSCURRENT');
    const previous = await read('AWSPREVIOUS');
    return [current, previous].filter((value) => value !== '');
  });
}

/** Keeps what was read for five minutes. Failures are not kept, and reads under way are not shared. */
export function heldFor<Value>(clock: Pick<Clock, 'now'>, read: () => Promise<Value>): () => Promise<Value> {
  let held: { readonly value: Value; readonly until: number } | undefined;
  return async () => {
    if (held && held.until > clock.now()) return held.value;
    const value = await read();
    held = { value, until: clock.now() + cacheMillis };
    return value;
  };
}
