import { readSecretValue } from '../aws/secrets.ts';
import { commonOf, type CommonServices } from '../platform/common.ts';
import type { On } from '../platform/platform.ts';
import { canaryAccountIn } from './canary-account.ts';
import { createPublicApi, type PublicApi } from './public-api.ts';

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
