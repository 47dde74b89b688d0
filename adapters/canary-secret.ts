/** The secret with the account and the key of the canary, for the operator's command. */
import { PutSecretValueCommand, type SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { canaryAccountIn, canarySecret, type CanaryAccount } from '../core/canary.ts';
import { readSecretValue } from './secret-value.ts';

export interface CanarySecret {
  /** Undefined: no operator has set the canary up. */
  read(): Promise<CanaryAccount | undefined>;
  write(account: CanaryAccount): Promise<void>;
}

/** @param secretArn throws when the stack has no canary */
export function createCanarySecret(client: SecretsManagerClient, secretArn: () => string): CanarySecret {
  return {
    read: async () => {
      const { SecretString: text = '' } = await readSecretValue(client, { SecretId: secretArn() });
      return canaryAccountIn(text);
    },
    write: async (account) => {
      await client.send(
        new PutSecretValueCommand({ SecretId: secretArn(), SecretString: canarySecret(account) }),
      );
    },
  };
}
