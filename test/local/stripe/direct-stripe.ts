/** The fake of Stripe without a socket, behind the port through which the client of the service sends. */
import { emptyState, type StripeRequest } from '../../../local/stripe/account.ts';
import { act, type PaymentAction, paymentActionSchema } from '../../../local/stripe/control.ts';
import { createFakeStripe } from '../../../local/stripe/stripe.ts';
import { createStream } from '../../../lab/simulation/world/dice.ts';
import { createPaymentSystem, type PaymentSystem } from '../../../service/payments/payment-system.ts';
import type { Clock } from '../../../service/values/runtime.ts';
import { CallBroke, type Send } from '../../../service/vendors/vendor-http.ts';
import { testKey, webhookSecret } from './stripe-fixture.ts';

export interface DirectStripe {
  readonly system: PaymentSystem;
  readonly requests: StripeRequest[];
  /** Whether the operator has entered the key. */
  readonly operator: { hasKey: boolean };
  /** Does what POST /_local/payments does. */
  readonly act: (action: PaymentAction | Record<string, unknown>) => unknown;
}

export function createDirectStripe(
  clock: Pick<Clock, 'now' | 'timeout'>,
  settings: Partial<PaymentSystem['settings']> = {},
): DirectStripe {
  const fake = createFakeStripe(emptyState(), {
    now: () => clock.now(),
    random: createStream(1),
    pagesUrl: 'http://stripe.test',
    send: () => Promise.resolve(200),
  });
  const requests: StripeRequest[] = [];
  const send: Send = (url, { method, headers, body }) => {
    const { pathname: path, search } = new URL(url);
    const text = typeof body === 'string' ? body : '';
    const request = { method, path, query: search.slice(1), headers, body: text };
    requests.push(request);
    const reply = fake.call(request);
    if (reply.kind !== 'answer') return Promise.reject(new CallBroke('ECONNRESET', true));
    return Promise.resolve({
      status: reply.status,
      headers: new Headers(reply.headers),
      bytes: Buffer.from(reply.body),
    });
  };
  const operator = { hasKey: true };
  return {
    requests,
    operator,
    system: createPaymentSystem({
      settings: {
        ...{ base_url: 'http://stripe.test', automatic_tax: false, tax_ids: false, invoices: false },
        suspend_on_dispute: false,
        ...settings,
      },
      readSecret: () =>
        Promise.resolve(operator.hasKey ? { key: testKey, webhook_secrets: [webhookSecret] } : {}),
      clock,
      send,
    }),
    act: (action) => act(fake.account, paymentActionSchema.parse(action)),
  };
}
