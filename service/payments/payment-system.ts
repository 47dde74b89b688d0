/** What the operator has agreed with Stripe: the key, the secrets of events, and the settings of the deployment. */
import type { PaymentSettings } from '../contract/payment-settings.ts';
import { Problem } from '../values/problem.ts';
import type { Clock } from '../values/runtime.ts';
import type { Send } from '../vendors/vendor-http.ts';
import { createStripe, type Stripe } from './stripe/client.ts';

/** The text of the secret PaymentSecret. It is {} until the operator has set it. */
export interface StripeSecret {
  /** A restricted key: rk_live_… or rk_test_… */
  readonly key?: string;
  /** The newest first. Two of them while the operator rolls the secret at Stripe. */
  readonly webhook_secrets?: readonly string[];
}

export interface PaymentSystem {
  readonly stripe: Stripe;
  /** The same for a caller that must answer in time. */
  readonly stripeWithin: (millisLeft: () => number) => Stripe;
  readonly settings: PaymentSettings;
  /** Whether the key takes real money. Throws NotSetUp. */
  readonly livemode: () => Promise<boolean>;
  /** None: the operator has not set them. */
  readonly webhookSecrets: () => Promise<readonly string[]>;
}

/** The operator has not entered the key of Stripe. */
export class NotSetUp extends Problem {
  constructor() {
    const message = 'The operator has not set up payments yet.';
    super('ERR_CONFLICT', message, { reason: 'payments_not_set_up' });
  }
}

interface SystemParts {
  readonly settings: PaymentSettings;
  readonly readSecret: () => Promise<StripeSecret>;
  readonly clock: Pick<Clock, 'timeout'>;
  /** Absent: fetch() sends. */
  readonly send?: Send;
}

export function createPaymentSystem({ settings, readSecret, clock, send }: SystemParts): PaymentSystem {
  const key = async (): Promise<string> => {
    const { key: found } = await readSecret();
    if (found === undefined) throw new NotSetUp();
    return found;
  };
  const access = {
    key,
    clock,
    ...(settings.base_url !== null && { baseUrl: settings.base_url }),
    ...(send && { send }),
  };
  return {
    stripe: createStripe(access),
    stripeWithin: (millisLeft) => createStripe({ ...access, millisLeft }),
    settings,
    livemode: async () => isLive(await key()),
    webhookSecrets: async () => (await readSecret()).webhook_secrets ?? [],
  };
}

export function isLive(key: string): boolean {
  return key.startsWith('rk_live_');
}
