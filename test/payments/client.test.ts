/** Our client of Stripe against the fake of Stripe. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createStripe, type Stripe, type StripeOutcome } from '../../service/payments/stripe/client.ts';
import { type Send } from '../../service/vendors/vendor-http.ts';
import { systemClock } from '../../service/aws/clock.ts';
import { startStripe, type TestStripe, testKey } from '../local/stripe/stripe-fixture.ts';

const order = {
  amountCents: 2_500,
  product: 'Credit of Darkroom',
  reference: 'p1',
  metadata: { payment: 'p1', account: 'a1' },
  savesCard: true,
  successUrl: 'https://portal.test/wallet?payment=p1',
  cancelUrl: 'https://portal.test/wallet',
  automaticTax: false,
  taxIds: false,
  invoices: false,
};

function objectOf<Found>(outcome: StripeOutcome<Found>): Found {
  if (outcome.kind !== 'ok') throw new Error(`not ok: ${JSON.stringify(outcome)}`);
  return outcome.object;
}

describe('the client of Stripe', () => {
  let fake: TestStripe;
  let stripe: Stripe;
  beforeAll(async () => {
    fake = await startStripe();
    stripe = clientWith({});
  });
  afterAll(() => fake.end());

  function clientWith(access: {
    readonly key?: string;
    readonly send?: Send;
    readonly clock?: typeof systemClock;
  }): Stripe {
    const { key = testKey, send, clock = systemClock } = access;
    return createStripe({ key: () => Promise.resolve(key), baseUrl: fake.url, clock, ...(send && { send }) });
  }
  const soon = (): number => Math.floor(fake.now() / 1_000) + 1_860;
  let keys = 0;
  const newKey = (): string => `dr_${(keys += 1)}`;

  /** Pays a Checkout, and gives its PaymentIntent with the saved card. */
  async function paid(card: string, more: Partial<Parameters<Stripe['createSession']>[0]> = {}) {
    const { id } = objectOf(await stripe.createSession({ ...order, expiresAt: soon(), ...more }, newKey()));
    fake.act({ action: 'pay', session: id, card });
    const session = objectOf(await stripe.getSession(id));
    return objectOf(await stripe.getPaymentIntent(session.paymentIntent ?? ''));
  }
  /** An auto top-up of 40 USD by the card that a Checkout has saved. */
  const topUpBy = (intent: Awaited<ReturnType<typeof paid>>) => ({
    amountCents: 4_000,
    customer: intent.customer ?? '',
    paymentMethod: intent.paymentMethod ?? '',
    description: 'Auto top-up',
    metadata: { payment: 'p2', account: 'a1' },
  });
  const fault = (name: string, call: string): unknown =>
    fake.act({ action: 'fault', fault: name, call, seconds: 60 });

  it('A session is made, paid and read, with its PaymentIntent, card and receipt', async () => {
    const expiresAt = soon();
    const session = objectOf(await stripe.createSession({ ...order, expiresAt }, newKey()));
    expect(session).toMatchObject({
      livemode: false,
      status: 'open',
      paymentStatus: 'unpaid',
      paymentIntent: null,
      url: `http://stripe.test/pay/${session.id}`,
      metadata: order.metadata,
    });
    expect(fake.fake.account.find('checkout.session', session.id)).toMatchObject({
      adaptive_pricing: { enabled: false },
      customer_creation: 'always',
      client_reference_id: 'p1',
      expires_at: expiresAt,
      amount_total: 2_500,
    });
    fake.act({ action: 'pay', session: session.id, card: 'pays' });
    const { paymentIntent, ...complete } = objectOf(await stripe.getSession(session.id));
    expect(complete).toMatchObject({ status: 'complete', paymentStatus: 'paid', url: null });
    const intent = objectOf(await stripe.getPaymentIntent(paymentIntent ?? ''));
    expect(intent).toMatchObject({
      status: 'succeeded',
      currency: 'usd',
      amountCents: 2_500,
      amountReceivedCents: 2_500,
      metadata: order.metadata,
      card: { brand: 'visa', last4: '4242', expiryMonth: 12, expiryYear: 2029 },
      failureCode: null,
    });
    expect(intent.receiptUrl).toContain('http://stripe.test/receipts/ch_');
  });

  it('A known customer pays with tax, tax ids and invoices, and no card is saved', async () => {
    const { customer } = await paid('pays');
    const intent = await paid('pays', {
      customer: customer ?? '',
      savesCard: false,
      automaticTax: true,
      taxIds: true,
      invoices: true,
    });
    expect(intent).toMatchObject({ customer, amountReceivedCents: 2_750 });
    expect(fake.fake.account.find('payment_method', intent.paymentMethod ?? '')).toMatchObject({
      customer: null,
    });
  });

  it('Each request is what the official library sends for the same parameters of the pinned version', async () => {
    const { customer, paymentMethod, id, ...others } = await paid('pays');
    const charge = topUpBy({ customer, paymentMethod, id, ...others });
    const expires_at = soon();
    const known = { ...order, customer: charge.customer, automaticTax: true, taxIds: true, invoices: true };
    const { sdk } = fake;
    const page = { limit: 100 };
    const pairs: readonly (readonly [() => Promise<unknown>, () => Promise<unknown>])[] = [
      [
        () => stripe.createSession({ ...known, expiresAt: expires_at }, newKey()),
        () =>
          sdk.checkout.sessions.create({
            mode: 'payment',
            line_items: [
              {
                quantity: 1,
                price_data: {
                  currency: 'usd',
                  unit_amount: 2_500,
                  tax_behavior: 'exclusive',
                  product_data: { name: order.product },
                },
              },
            ],
            adaptive_pricing: { enabled: false },
            customer: charge.customer,
            customer_update: { address: 'auto', name: 'auto' },
            client_reference_id: 'p1',
            metadata: order.metadata,
            payment_intent_data: { metadata: order.metadata, setup_future_usage: 'off_session' },
            expires_at,
            success_url: order.successUrl,
            cancel_url: order.cancelUrl,
            automatic_tax: { enabled: true },
            tax_id_collection: { enabled: true },
            invoice_creation: { enabled: true },
          }),
      ],
      [
        () => stripe.createPaymentIntent(charge, newKey()),
        () =>
          sdk.paymentIntents.create({
            amount: 4_000,
            currency: 'usd',
            customer: charge.customer,
            payment_method: charge.paymentMethod,
            description: charge.description,
            metadata: charge.metadata,
            confirm: true,
            off_session: true,
            error_on_requires_action: true,
            payment_method_options: { card: { stored_credential_usage: 'unscheduled' } },
          }),
      ],
      [
        () => stripe.getPaymentIntent(id),
        () => sdk.paymentIntents.retrieve(id, { expand: ['latest_charge', 'payment_method'] }),
      ],
      [
        () => stripe.listPaymentIntents(charge.customer, id),
        () => sdk.paymentIntents.list({ customer: charge.customer, starting_after: id, ...page }),
      ],
      [() => stripe.listRefunds(id), () => sdk.refunds.list({ payment_intent: id, ...page })],
      [() => stripe.listDisputes(id), () => sdk.disputes.list({ payment_intent: id, ...page })],
      [
        () => stripe.listEvents(['refund.failed', 'charge.refunded'], 5),
        () => sdk.events.list({ types: ['refund.failed', 'charge.refunded'], created: { gte: 5 }, ...page }),
      ],
      [() => stripe.listCharges(5, 9), () => sdk.charges.list({ created: { gte: 5, lt: 9 }, ...page })],
      [() => stripe.cancelPaymentIntent(id), () => sdk.paymentIntents.cancel(id).catch(() => undefined)],
      [
        () => stripe.detachPaymentMethod(charge.paymentMethod),
        () => sdk.paymentMethods.detach(charge.paymentMethod).catch(() => undefined),
      ],
    ];
    const sent = async (call: () => Promise<unknown>): Promise<string[]> => {
      await call();
      const { method = '', path = '', query = '', body = '' } = fake.requests.at(-1) ?? {};
      return [
        `${method} ${path}`,
        ...[...new URLSearchParams(query + body)].map((pair) => pair.join('=')).toSorted(),
      ];
    };
    for (const [ours, theirs] of pairs) expect(await sent(ours)).toEqual(await sent(theirs));
  });

  it('A saved card is charged once for one Idempotency-Key, and never again once it is removed', async () => {
    const charge = topUpBy(await paid('pays'));
    const key = newKey();
    const first = objectOf(await stripe.createPaymentIntent(charge, key));
    expect(first).toMatchObject({
      status: 'succeeded',
      amountReceivedCents: 4_000,
      metadata: { payment: 'p2' },
    });
    expect(objectOf(await stripe.createPaymentIntent(charge, key)).id).toBe(first.id);
    const { items } = objectOf(await stripe.listPaymentIntents(charge.customer));
    expect(items.map(({ amountCents }) => amountCents)).toEqual([4_000, 2_500]);
    expect(await stripe.detachPaymentMethod(charge.paymentMethod)).toEqual({ kind: 'ok', object: null });
    expect(await stripe.createPaymentIntent(charge, newKey())).toMatchObject({
      kind: 'refused',
      error: { type: 'invalid_request_error' },
      paymentIntent: null,
    });
  });

  it.each([
    ['later_declined', 'card_declined', 'generic_decline'],
    ['later_expired', 'expired_card', 'expired_card'],
    ['authentication', 'authentication_required', 'authentication_required'],
  ])(
    'The card %s is refused with %s and names its PaymentIntent, which can be cancelled',
    async (card, code, decline) => {
      const outcome = await stripe.createPaymentIntent(topUpBy(await paid(card)), newKey());
      expect(outcome).toMatchObject({
        kind: 'refused',
        error: { type: 'card_error', code, declineCode: decline },
      });
      const id = outcome.kind === 'refused' ? (outcome.paymentIntent ?? '') : '';
      expect(objectOf(await stripe.getPaymentIntent(id))).toMatchObject({
        status: 'requires_payment_method',
        failureCode: decline,
      });
      expect(objectOf(await stripe.cancelPaymentIntent(id))).toMatchObject({ status: 'canceled' });
      expect(await stripe.cancelPaymentIntent(id)).toMatchObject({
        kind: 'refused',
        error: { code: 'payment_intent_unexpected_state' },
        paymentIntent: id,
      });
    },
  );

  it.each([
    ['error', 'server_error'],
    ['stored_error', 'server_error'],
    ['stored_error_after_effect', 'server_error'],
    ['lost_answer', 'no_answer'],
    ['revoked', 'key_refused'],
    ['forbidden', 'key_refused'],
    ['conflict', 'in_flight'],
    ['rate_limit', 'rate_limit'],
  ])('After the fault %s the outcome is unknown: %s', async (name, why) => {
    const charge = topUpBy(await paid('pays'));
    fault(name, 'POST /v1/payment_intents');
    const key = newKey();
    expect(await stripe.createPaymentIntent(charge, key)).toEqual({ kind: 'unknown', why });
    const { items } = objectOf(await stripe.listPaymentIntents(charge.customer));
    const hasEffect = name === 'stored_error_after_effect' || name === 'lost_answer';
    expect(items).toHaveLength(hasEffect ? 2 : 1);
    const again = await stripe.createPaymentIntent(charge, key);
    expect(again.kind).toBe(name.startsWith('stored_error') ? 'unknown' : 'ok');
    const after = objectOf(await stripe.listPaymentIntents(charge.customer));
    expect(after.items).toHaveLength(name === 'stored_error' ? 1 : 2);
  });

  it('A call ends after 20 s without an answer, and its outcome is unknown', async () => {
    const limits: number[] = [];
    const controller = new AbortController();
    const clock = {
      ...systemClock,
      timeout: (millis: number) => {
        limits.push(millis);
        return { signal: controller.signal, release: () => undefined };
      },
    };
    fault('hang', 'GET /v1/events');
    const answer = clientWith({ clock }).listEvents(['charge.refunded'], 0);
    await expect.poll(() => fake.requests.at(-1)?.path).toBe('/v1/events');
    controller.abort();
    expect([await answer, limits]).toEqual([{ kind: 'unknown', why: 'no_answer' }, [20_000]]);
  });

  it('The same Idempotency-Key with another amount, and an answer that is not of Stripe, are unknown', async () => {
    const charge = topUpBy(await paid('pays'));
    const key = newKey();
    await stripe.createPaymentIntent(charge, key);
    expect(await stripe.createPaymentIntent({ ...charge, amountCents: 4_100 }, key)).toEqual({
      kind: 'unknown',
      why: 'idempotency_key',
    });
    const whole = fake.fake.account.list('payment_intent', false)[0];
    const answers: readonly [number, string][] = [
      [200, '<p>Welcome to the network</p>'],
      [404, '<p>Not Found</p>'],
      [302, ''],
      ...[{ amount: '2500' }, { amount_received: 0.5 }, { livemode: 'false' }, { status: null }].map(
        (wrong): [number, string] => [200, JSON.stringify({ ...whole, ...wrong })],
      ),
    ];
    for (const [status, body] of answers) {
      const headers = new Headers({
        'content-type': body.startsWith('{') ? 'application/json' : 'text/html',
      });
      const send: Send = () => Promise.resolve({ status, headers, bytes: Buffer.from(body) });
      expect(await clientWith({ send }).getPaymentIntent('pi_1')).toEqual({
        kind: 'unknown',
        why: 'unreadable',
      });
    }
    expect(await clientWith({ key: 'pk_test_public' }).getSession('cs_1')).toEqual({
      kind: 'unknown',
      why: 'key_refused',
    });
    expect(await stripe.getSession('cs_test_of/nobody')).toMatchObject({
      kind: 'refused',
      error: { code: 'resource_missing', param: 'id' },
    });
  });

  it('Refunds, disputes, events and charges are read as the product counts them', async () => {
    await fake.advance(2);
    const since = Math.floor(fake.now() / 1_000);
    const intent = await paid('refund_pending');
    fake.act({ action: 'refund', payment_intent: intent.id, amount: 700 });
    expect(objectOf(await stripe.listRefunds(intent.id)).items).toMatchObject([
      { status: 'pending', amountCents: 700 },
    ]);
    const withdrawn = async (as: string): Promise<(number | string)[]> => {
      fake.act({ action: 'dispute', payment_intent: intent.id, as, amount: 1_000 });
      return objectOf(await stripe.listDisputes(intent.id)).items.flatMap((one) => [
        one.status,
        one.withdrawnCents,
      ]);
    };
    expect(await withdrawn('inquiry')).toEqual(['warning_needs_response', 0]);
    expect(await withdrawn('opened')).toEqual(['needs_response', 1_000]);
    expect(await withdrawn('won')).toEqual(['won', 0]);
    const { items: charges, hasMore } = objectOf(await stripe.listCharges(since, since + 1));
    expect([charges.length, hasMore, charges[0]]).toMatchObject([
      1,
      false,
      { paymentIntent: intent.id, amountCents: 2_500, status: 'succeeded', currency: 'usd', livemode: false },
    ]);
    expect(objectOf(await stripe.listCharges(since - 1, since)).items).toEqual([]);
    const types = [
      'payment_intent.succeeded',
      'checkout.session.completed',
      'charge.dispute.closed',
      'refund.created',
    ];
    const events = objectOf(await stripe.listEvents(types, since)).items;
    expect(events.map(({ type, paymentIntent }) => [type, paymentIntent])).toEqual(
      [
        'charge.dispute.closed',
        'refund.created',
        'checkout.session.completed',
        'payment_intent.succeeded',
      ].map((type) => [type, intent.id]),
    );
    const [newest] = events;
    expect(objectOf(await stripe.listEvents(types, since, newest?.id)).items).toEqual(events.slice(1));
  });
});
