import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { callLimits } from '../../adapters/call-limits.ts';
import { createPublicApi } from '../../adapters/public-api.ts';
import { readSecretValue } from '../../adapters/secret-value.ts';
import { canaryAccountIn } from '../../core/canary.ts';
import type { PublicApi } from '../../core/ports/canary.ts';
import { commonServices, type CommonServices } from './clients.ts';
import { environment } from './environment.ts';

export interface CanaryServices extends CommonServices {
  /** The API with the key of the canary. Undefined: no operator has set the canary up. */
  readonly api: () => Promise<PublicApi | undefined>;
}

export function canaryServices(): CanaryServices {
  const common = commonServices('canary');
  const client = new SecretsManagerClient(callLimits());
  const url = environment('API_URL');
  const secretArn = environment('CANARY_SECRET_ARN');
  return {
    ...common,
    api: async () => {
      const { SecretString: text = '' } = await readSecretValue(client, { SecretId: secretArn });
      const account = canaryAccountIn(text);
      return account && createPublicApi({ url, key: account.key, clock: common.clock });
    },
  };
}
