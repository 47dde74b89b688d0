/** A secret of Secrets Manager, for a function that signs requests anyway: the client has 8 KB. */
import { Overloaded } from '../values/errors.ts';
import type { Clock } from '../values/runtime.ts';
import { type AwsPlace, serviceUrl } from './aws-place.ts';
import { createSignedFetch, type SigningKeys } from './signed-fetch.ts';
import { noSuchVersion, validValues } from './secrets.ts';

/** The time of the call with all its tries, after a 5xx or a throttle. */
const callMillis = 5_000;
const retries = 2;

export interface SecretAccess extends AwsPlace, SigningKeys {
  readonly clock: Pick<Clock, 'now' | 'sleep' | 'timeout'>;
}

/** Calls operations of Secrets Manager. @param tries again after a 5xx or a throttle. The pauses grow */
export function secretsManager(access: SecretAccess, tries: number) {
  const send = createSignedFetch({ ...access, service: 'secretsmanager', retries: tries });
  return (operation: string, input: object, signal: AbortSignal): Promise<Response> =>
    send(`${serviceUrl('secretsmanager', access)}/`, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-amz-json-1.1',
        'x-amz-target': `secretsmanager.${operation}`,
      },
      body: JSON.stringify(input),
      signal,
    });
}

/** The values valid now, read at most once in five minutes. Throws Overloaded without an answer. */
export function createSignedSecret(
  access: SecretAccess & { readonly secretArn: string },
): () => Promise<readonly string[]> {
  const { secretArn, clock } = access;
  const call = secretsManager(access, retries);
  return validValues(clock, async (stage) => {
    const limit = clock.timeout(callMillis);
    try {
      const input = { SecretId: secretArn, VersionStage: stage };
      const response = await call('GetSecretValue', input, limit.signal);
      const text = await response.text();
      if (response.ok) return secretIn(text);
      if (stage === 'AWSPREVIOUS' && text.includes(noSuchVersion)) return '';
      const refusal = `Secrets Manager answered ${response.status}`;
      const passes = response.status >= 500 || response.status === 429 || text.includes('Throttling');
      throw passes ? new Overloaded(refusal) : new Error(refusal);
    } catch (error) {
      throw limit.signal.aborted
        ? new Overloaded('Secrets Manager gave no answer in time', { cause: error })
        : error;
    } finally {
      limit.release();
    }
  });
}

function secretIn(text: string): string {
  const { SecretString: secret } = JSON.parse(text) as { readonly SecretString?: string };
  return secret ?? '';
}
