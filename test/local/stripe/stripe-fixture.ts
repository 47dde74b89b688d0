/** The fake of Stripe behind a server of its own, with a clock that stands, and Stripe's own library in front. */
import { createServer } from 'node:http';
import Stripe from 'stripe';
import { emptyState, type StripeRequest } from '../../../local/stripe/account.ts';
import { act, type PaymentAction, paymentActionSchema } from '../../../local/stripe/control.ts';
import { createFakeStripe } from '../../../local/stripe/stripe.ts';
import { joinedHeaders, listenOnLoopback, readBody, targetOf } from '../../../local/http.ts';
import { createStream } from '../../../lab/simulation/world/dice.ts';

/** A webhook as it was sent. */
export interface SentWebhook {
  readonly signature: string | undefined;
  readonly body: string;
}

export const testKey = 'rk_test_fixture';
export const webhookSecret = 'whsec_fixture';

/** 2026-11-27T12:00:00Z */
const begin = 1_795_780_800_000;

export async function startStripe() {
  let now = begin;
  const webhooks: SentWebhook[] = [];
  const receiver = { status: 200 };
  const fake = createFakeStripe(emptyState(), {
    now: () => now,
    random: createStream(1),
    pagesUrl: 'http://stripe.test',
    send: (_url, headers, body) => {
      webhooks.push({ signature: headers['stripe-signature'], body });
      return Promise.resolve(receiver.status);
    },
  });
  const requests: StripeRequest[] = [];
  const server = createServer((incoming, outgoing) => {
    void (async () => {
      const body = (await readBody(incoming, 1_000_000))?.toString('utf8') ?? '';
      const { path, query } = targetOf(incoming);
      const request = { method: incoming.method ?? '', path, query, headers: joinedHeaders(incoming), body };
      requests.push(request);
      const reply = fake.call(request);
      if (reply.kind === 'lost') outgoing.destroy();
      else if (reply.kind === 'answer') outgoing.writeHead(reply.status, reply.headers).end(reply.body);
    })();
  });
  const port = await listenOnLoopback(server);
  return {
    fake,
    requests,
    webhooks,
    receiver,
    url: `http://127.0.0.1:${port}`,
    now: () => now,
    sdk: new Stripe(testKey, {
      host: '127.0.0.1',
      port,
      protocol: 'http',
      maxNetworkRetries: 0,
      telemetry: false,
    }),
    /** Does what POST /_local/payments does. */
    act: (action: PaymentAction | Record<string, unknown>): unknown =>
      act(fake.account, paymentActionSchema.parse(action)),
    /** Sets the clock forward to each instant at which something is due. */
    advance: async (seconds: number): Promise<void> => {
      const end = now + seconds * 1_000;
      for (;;) {
        await fake.runDue();
        const next = fake.nextAt() ?? Infinity;
        if (next > end) break;
        now = next;
      }
      now = end;
    },
    end: (): void => {
      server.closeAllConnections();
      server.close();
    },
  };
}

export type TestStripe = Awaited<ReturnType<typeof startStripe>>;

/** The parameters of our Checkout: 25 USD, and a card that is saved for later. */
export const checkout = {
  mode: 'payment',
  line_items: [
    {
      quantity: 1,
      price_data: {
        currency: 'usd',
        unit_amount: 2_500,
        tax_behavior: 'exclusive',
        product_data: { name: 'Credit' },
      },
    },
  ],
  success_url: 'https://portal.test/wallet?payment=p1',
  cancel_url: 'https://portal.test/wallet',
  customer_creation: 'always',
  client_reference_id: 'p1',
  metadata: { payment: 'p1' },
  payment_intent_data: { setup_future_usage: 'off_session', metadata: { payment: 'p1', account: 'a1' } },
} as const satisfies Stripe.Checkout.SessionCreateParams;
