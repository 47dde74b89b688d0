/** The functions of payments in a world, opened as the functions open them, and Stripe behind them. */
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import type { InvocationResult } from '../../../local/lambda/messages.ts';
import { createPlainSecret } from '../../../service/aws/secrets.ts';
import type { PaymentSettings } from '../../../service/contract/payment-settings.ts';
import { followPayments } from '../../../service/payments/follow-payments.ts';
import { openFollowPayments, openReceivePayment } from '../../../service/payments/open.ts';
import {
  createPaymentSystem,
  type PaymentSystem,
  type StripeSecret,
} from '../../../service/payments/payment-system.ts';
import { receivePayment } from '../../../service/payments/receive-payment.ts';
import type { Platform } from '../../../service/platform/platform.ts';
import type { Clock } from '../../../service/values/runtime.ts';
import { createStripeInWorld, stripeKey, type StripeObserver } from '../network/stripe-in-world.ts';
import type { SentEvent, WebhookHabits } from '../network/stripe-webhooks.ts';
import type { Invocation, World } from '../world/simulated-world.ts';
import type { AwsClients } from './sdk-clients.ts';

export const paymentSecretArn = 'arn:aws:secretsmanager:us-east-1:000000000000:secret:payment';

/** How the operator takes payments in a scenario, and how Stripe's events come. */
export interface PaymentHabits {
  /** The probability that a fault strikes a call of Stripe. Absent: as every call. */
  readonly faultProbability?: number;
  readonly settings: Pick<PaymentSettings, 'automatic_tax' | 'suspend_on_dispute'>;
  readonly webhooks: WebhookHabits;
}

/** Nobody pays in the scenario. */
export const noPayments: PaymentHabits = {
  settings: { automatic_tax: false, suspend_on_dispute: false },
  webhooks: {
    ...{ losesAll: true, reverses: false },
    ...{ lost: 0, fiveTimes: 0, late: 0, forged: 0, lateBy: [0] },
  },
};

export interface PaymentObserver extends StripeObserver {
  /** Called with the status of the answer to an event. `invocation` is absent when the function never began. */
  readonly onEventAnswered: (sent: SentEvent, invocation: Invocation | undefined, status: number) => void;
}

const limitMillis = { receive: 60_000, follow: 300_000 } as const;

/** The functions of payments before the platform is there. */
export function createPayments(world: World, observer: PaymentObserver, habits: PaymentHabits) {
  let on: Platform | undefined;
  const platform = (): Platform => {
    if (!on) throw new Error('the platform is not there yet');
    return on;
  };

  /** An event arrives. Gives the status of the answer, or 0 when Stripe gets no answer. */
  async function receive(sent: SentEvent): Promise<number> {
    let invocation: Invocation | undefined;
    const { signature, body } = sent;
    const event = {
      headers: signature === undefined ? {} : { 'stripe-signature': signature },
      body,
      isBase64Encoded: false,
    } as unknown as APIGatewayProxyEventV2;
    const result = await world.invoke('receive-payment', limitMillis.receive, () => {
      invocation = world.current();
      return receivePayment(event, openReceivePayment(platform()));
    });
    const status = result.ok ? ((result.payload as APIGatewayProxyStructuredResultV2).statusCode ?? 0) : 500;
    observer.onEventAnswered(sent, invocation, status);
    return world
      .call({ service: 'gateway', operation: 'receive-payment', target: '' }, () => status)
      .catch(() => 0);
  }

  const stripe = createStripeInWorld(world, observer, receive, habits.webhooks);
  /** What the operator has stored, the newest first. */
  let webhookSecrets = stripe.webhooks.secrets();
  return {
    stripe,
    acceptSecrets: (next: readonly string[]): void => void (webhookSecrets = next),
    secretString: (): string => JSON.stringify({ key: stripeKey, webhook_secrets: webhookSecrets }),
    /** What the functions get of the platform. */
    systemOn: (clients: Pick<AwsClients, 'secrets'>, clock: Clock): PaymentSystem => {
      const readText = createPlainSecret({ client: clients.secrets, secretArn: paymentSecretArn, clock });
      return createPaymentSystem({
        settings: { base_url: null, tax_ids: false, invoices: false, ...habits.settings },
        readSecret: async () => JSON.parse(await readText()) as StripeSecret,
        clock,
        send: stripe.send,
      });
    },
    attach: (attached: Platform): void => void (on = attached),
    followPayments: (): Promise<InvocationResult> =>
      world.invoke('follow-payments', limitMillis.follow, () => {
        const endsAt = world.time.now() + limitMillis.follow;
        return followPayments(openFollowPayments(platform()), () => endsAt - world.time.now());
      }),
  };
}
