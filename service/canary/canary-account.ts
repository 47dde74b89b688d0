/** What the canary orders, and the secret that holds its account. */
import { PutSecretValueCommand, type SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import * as z from 'zod/mini';
import { readSecretValue } from '../aws/secrets.ts';

/** The cheapest model of the sandbox. The key of the canary may use no other. */
export const canaryModel = 'sandbox-sketch';

export interface CanaryAccount {
  readonly account: string;
  readonly keyId: string;
  readonly key: string;
}

const secretSchema = z.object({ account: z.string(), key_id: z.string(), key: z.string() });

function canarySecret({ account, keyId, key }: CanaryAccount): string {
  return JSON.stringify({ account, key_id: keyId, key });
}

/** The account in the text of the secret. Undefined: no operator has set the canary up. */
export function canaryAccountIn(text: string): CanaryAccount | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const parsed = secretSchema.safeParse(value);
  return parsed.success
    ? { account: parsed.data.account, keyId: parsed.data.key_id, key: parsed.data.key }
    : undefined;
}

/** @param secretArn throws when the stack has no canary */
export function createCanarySecret(client: SecretsManagerClient, secretArn: () => string) {
  return {
    /** Undefined: no operator has set the canary up. */
    read: async (): Promise<CanaryAccount | undefined> => {
      const { SecretString: text = '' } = await readSecretValue(client, { SecretId: secretArn() });
      return canaryAccountIn(text);
    },
    write: async (account: CanaryAccount) => {
      await client.send(
        new PutSecretValueCommand({ SecretId: secretArn(), SecretString: canarySecret(account) }),
      );
    },
  };
}
