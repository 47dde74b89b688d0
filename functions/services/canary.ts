import { createPublicApi } from '../../adapters/public-api.ts';
import { readSecretValue } from '../../adapters/secret-value.ts';
import { canaryAccountIn } from '../../core/canary.ts';
import type { PublicApi } from '../../core/ports/canary.ts';
import { commonOf, type CommonServices } from './common.ts';
import type { On } from './platform.ts';

export interface CanaryServices extends CommonServices {
  /** The API with the key of the canary. Undefined: no operator has set the canary up. */
  readonly api: () => Promise<PublicApi | undefined>;
}

export function openCanary(on: On<'secrets'>): CanaryServices {
  const { clock, secrets } = on;
  const url = on.environment('API_URL');
  const secretArn = on.environment('CANARY_SECRET_ARN');
  return {
    ...commonOf(on, 'canary'),
    api: async () => {
      const { SecretString: text = '' } = await readSecretValue(secrets, { SecretId: secretArn });
      const account = canaryAccountIn(text);
      return account && createPublicApi({ url, key: account.key, clock });
    },
  };
}
