/** Two calls of Secrets Manager that need only a signer, and no client of the SDK. */
import { type SecretAccess, secretsManager } from '../aws/signed-secret.ts';
import { awsErrorName } from '../values/errors.ts';
import { uuidV7 } from '../values/ids.ts';
import type { RandomBytes } from '../values/runtime.ts';

const callMillis = 20_000;
/** How often a call is retried after a 5xx. The pauses grow. */
const retries = 4;

interface Access extends SecretAccess {
  readonly randomBytes: RandomBytes;
}

export function createSecretCalls({ randomBytes, ...access }: Access) {
  const { clock } = access;
  const send = secretsManager(access, retries);

  async function call(operation: string, input: object): Promise<{ readonly SecretString?: string }> {
    const limit = clock.timeout(callMillis);
    try {
      const response = await send(operation, input, limit.signal);
      const text = await response.text();
      if (response.ok) return JSON.parse(text) as { readonly SecretString?: string };
      throw new Error(`Secrets Manager answered ${response.status} ${awsErrorName(text)} to ${operation}`);
    } finally {
      limit.release();
    }
  }

  return {
    read: async (SecretId: string): Promise<string> =>
      (await call('GetSecretValue', { SecretId })).SecretString ?? '{}',
    /** A repetition of the same try changes nothing: the token names the version. */
    put: async (SecretId: string, SecretString: string): Promise<void> => {
      await call('PutSecretValue', {
        SecretId,
        SecretString,
        ClientRequestToken: uuidV7(clock.now(), randomBytes(16)),
      });
    },
  };
}
