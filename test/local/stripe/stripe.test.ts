/** Stripe's own library drives our fake of Stripe. */
import type Stripe from 'stripe';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkout, startStripe, type TestStripe, webhookSecret } from './stripe-fixture.ts';

describe('the fake of Stripe', () => {
  let stripe: TestStripe;
  let sdk: Stripe;
  beforeAll(async () => {
    stripe = await startStripe();
    sdk = stripe.sdk;
    stripe.act({ action: 'webhook', url: 'https://api.test/hook', secrets: ['whsec_old', webhookSecret] });
  });
  afterAll(() => stripe.end());

  /** The types of the events since the call, the oldest first. */
  function eventsSince(begin: number): string[] {
    return stripe.fake.account.state.events.slice(begin).map(({ type }) => type);
  }
  const eventCount = (): number => stripe.fake.account.state.events.length;

  async function paid(
    card: string,
  ): Promise<{ intent: Stripe.PaymentIntent; session: Stripe.Checkout.Session }> {
    const { id } = await sdk.checkout.sessions.create(checkout);
    stripe.act({ action: 'pay', session: id, card });
    const session = await sdk.checkout.sessions.retrieve(id, { expand: ['payment_intent'] });
    return { session, intent: session.payment_intent as Stripe.PaymentIntent };
  }

  /** Charges the card that the payment saved, as an auto top-up does. */
  function chargeAgain(intent: Stripe.PaymentIntent, key?: string) {
    return sdk.paymentIntents.create(
      {
        amount: 4_000,
        currency: 'usd',
        customer: intent.customer as string,
        payment_method: intent.payment_method as string,
        off_session: true,
        confirm: true,
        error_on_requires_action: true,
        payment_method_options: { card: { stored_credential_usage: 'unscheduled' } },
        metadata: { payment: 'p2' },
      },
      key === undefined ? {} : { idempotencyKey: key },
    );
  }
  const refusal = (work: Promise<unknown>): Promise<Stripe.errors.StripeError> =>
    work.then(
      () => Promise.reject(new Error('it was not refused')),
      (error: unknown) => error as Stripe.errors.StripeError,
    );

  it('A Checkout that is paid completes its session, saves the card, and sends its events in order', async () => {
    const begin = eventCount();
    const open = await sdk.checkout.sessions.create(checkout);
    expect(open).toMatchObject({
      status: 'open',
      payment_status: 'unpaid',
      payment_intent: null,
      livemode: false,
    });
    expect(open.url).toBe(`http://stripe.test/pay/${open.id}`);
    stripe.act({ action: 'pay', session: open.id, card: 'pays' });
    const session = await sdk.checkout.sessions.retrieve(open.id, {
      expand: ['payment_intent.latest_charge'],
    });
    expect(session).toMatchObject({
      status: 'complete',
      payment_status: 'paid',
      client_reference_id: 'p1',
      amount_total: 2_500,
      payment_intent: {
        status: 'succeeded',
        amount_received: 2_500,
        currency: 'usd',
        metadata: { payment: 'p1', account: 'a1' },
        customer: session.customer,
        latest_charge: { status: 'succeeded', amount: 2_500 },
      },
    });
    const method = await sdk.paymentMethods.retrieve(
      (session.payment_intent as Stripe.PaymentIntent).payment_method as string,
    );
    expect(method).toMatchObject({ customer: session.customer, card: { last4: '4242' } });
    expect(eventsSince(begin)).toEqual([
      'customer.created',
      'payment_intent.created',
      'payment_method.attached',
      'charge.succeeded',
      'payment_intent.succeeded',
      'checkout.session.completed',
    ]);
  });

  it('A saved card is charged off session until it is removed', async () => {
    const { intent } = await paid('pays');
    expect(await chargeAgain(intent)).toMatchObject({ status: 'succeeded', amount_received: 4_000 });
    await sdk.paymentMethods.detach(intent.payment_method as string);
    expect(await refusal(chargeAgain(intent))).toMatchObject({
      type: 'StripeInvalidRequestError',
      statusCode: 400,
    });
  });

  it.each([
    ['later_declined', 'card_declined', 'generic_decline'],
    ['later_expired', 'expired_card', 'expired_card'],
    ['authentication', 'authentication_required', 'authentication_required'],
  ])(
    'The saved card %s is declined with %s, and its PaymentIntent can be cancelled',
    async (card, code, reason) => {
      const { intent } = await paid(card);
      const error = await refusal(chargeAgain(intent));
      expect(error).toMatchObject({
        type: 'StripeCardError',
        statusCode: 402,
        code,
        decline_code: reason,
        payment_intent: { status: 'requires_payment_method', last_payment_error: { code } },
      });
      const { id = '' } = error.payment_intent ?? {};
      expect(await sdk.paymentIntents.cancel(id)).toMatchObject({ status: 'canceled' });
      expect(await refusal(sdk.paymentIntents.cancel(id))).toMatchObject({
        code: 'payment_intent_unexpected_state',
        payment_intent: { id },
      });
    },
  );

  it('A declined card leaves its session open for another card', async () => {
    const { id } = await sdk.checkout.sessions.create(checkout);
    expect(stripe.act({ action: 'pay', session: id, card: 'insufficient_funds' })).toMatchObject({
      declined: { decline_code: 'insufficient_funds' },
      session: { status: 'open' },
    });
    stripe.act({ action: 'pay', session: id, card: 'pays' });
    expect(await sdk.checkout.sessions.retrieve(id)).toMatchObject({
      status: 'complete',
      payment_status: 'paid',
    });
  });

  it.each([
    ['bank_succeeds', 'succeeded', 'paid', 'succeeded'],
    ['bank_fails', 'failed', 'unpaid', 'requires_payment_method'],
  ])('With %s the session completes unpaid, and the end comes later', async (card, end, payment, status) => {
    const { session, intent } = await paid(card);
    expect([session.status, session.payment_status, intent.status]).toEqual([
      'complete',
      'unpaid',
      'processing',
    ]);
    const begin = eventCount();
    await stripe.advance(300);
    expect(await sdk.checkout.sessions.retrieve(session.id)).toMatchObject({ payment_status: payment });
    expect(await sdk.paymentIntents.retrieve(intent.id)).toMatchObject({ status });
    expect(eventsSince(begin).at(-1)).toBe(`checkout.session.async_payment_${end}`);
  });

  it('A session expires at its time, or when we ask for it', async () => {
    const expires_at = Math.floor(stripe.now() / 1_000) + 1_860;
    const early = await refusal(sdk.checkout.sessions.create({ ...checkout, expires_at: expires_at - 120 }));
    expect(early).toMatchObject({ param: 'expires_at' });
    const first = await sdk.checkout.sessions.create({ ...checkout, expires_at });
    const second = await sdk.checkout.sessions.create(checkout);
    await stripe.advance(1_860);
    expect(await sdk.checkout.sessions.retrieve(first.id)).toMatchObject({ status: 'expired', url: null });
    expect(await sdk.checkout.sessions.expire(second.id)).toMatchObject({ status: 'expired' });
    expect(await refusal(sdk.checkout.sessions.expire(second.id))).toMatchObject({ statusCode: 400 });
  });

  it('A tax comes on top of the amount', async () => {
    const session = await sdk.checkout.sessions.create({ ...checkout, automatic_tax: { enabled: true } });
    expect(session).toMatchObject({
      amount_subtotal: 2_500,
      amount_total: 2_750,
      total_details: { amount_tax: 250 },
    });
  });

  it('A refund may be pending and fail, and parts of a charge are never refunded twice', async () => {
    const { intent } = await paid('refund_fails');
    const refund = await sdk.refunds.create({ payment_intent: intent.id, amount: 1_000 });
    expect(refund.status).toBe('pending');
    const tooMuch = await refusal(sdk.refunds.create({ payment_intent: intent.id, amount: 1_501 }));
    expect(tooMuch).toMatchObject({ param: 'amount' });
    const begin = eventCount();
    await stripe.advance(300);
    const list = await sdk.refunds.list({ payment_intent: intent.id });
    expect(list.data).toMatchObject([{ id: refund.id, status: 'failed', amount: 1_000 }]);
    expect(eventsSince(begin)).toEqual(['refund.failed', 'refund.updated']);
    stripe.act({ action: 'refund', payment_intent: intent.id, as: 'succeeded' });
    expect(await refusal(sdk.refunds.create({ payment_intent: intent.id }))).toMatchObject({
      code: 'charge_already_refunded',
    });
  });

  it('A dispute takes the money and gives it back when it is won; an inquiry moves nothing', async () => {
    const { intent } = await paid('pays');
    const begin = eventCount();
    const moved = async (): Promise<number[]> => {
      const { data } = await sdk.disputes.list({ payment_intent: intent.id });
      return data.flatMap(({ balance_transactions }) => balance_transactions.map(({ amount }) => amount));
    };
    stripe.act({ action: 'dispute', payment_intent: intent.id, as: 'inquiry' });
    expect(await moved()).toEqual([]);
    stripe.act({ action: 'dispute', payment_intent: intent.id, as: 'opened' });
    expect(await moved()).toEqual([-2_500]);
    expect(await refusal(sdk.refunds.create({ payment_intent: intent.id }))).toMatchObject({
      code: 'charge_disputed',
    });
    stripe.act({ action: 'dispute', payment_intent: intent.id, as: 'won' });
    expect(await moved()).toEqual([-2_500, 2_500]);
    expect(() => stripe.act({ action: 'dispute', payment_intent: intent.id, as: 'lost' })).toThrow('is won');
    expect(eventsSince(begin)).toEqual([
      'charge.dispute.created',
      'charge.dispute.updated',
      'charge.dispute.funds_withdrawn',
      'charge.dispute.funds_reinstated',
      'charge.dispute.closed',
    ]);
  });

  it('Lists come in pages, the newest first, by customer, by type, and for the last 30 days', async () => {
    await stripe.advance(1);
    const customer = await sdk.customers.create({ email: 'a@example.com' });
    const made: string[] = [];
    for (const amount of [100, 200, 300])
      made.unshift((await sdk.paymentIntents.create({ amount, currency: 'usd', customer: customer.id })).id);
    const first = await sdk.paymentIntents.list({ customer: customer.id, limit: 2 });
    expect([first.data.map(({ id }) => id), first.has_more]).toEqual([made.slice(0, 2), true]);
    const second = await sdk.paymentIntents.list({
      customer: customer.id,
      limit: 2,
      starting_after: made[1] as string,
    });
    expect([second.data.map(({ id }) => id), second.has_more]).toEqual([made.slice(2), false]);
    const since = Math.floor(stripe.now() / 1_000);
    const types = ['payment_intent.created', 'customer.created'];
    const events = await sdk.events.list({ types, created: { gte: since }, limit: 4 });
    expect(events.data.map(({ type }) => type)).toEqual([
      ...made.map(() => 'payment_intent.created'),
      'customer.created',
    ]);
    expect((await sdk.charges.list({ created: { gte: since } })).data).toEqual([]);
    await stripe.advance(32 * 86_400);
    await sdk.customers.create({});
    expect((await sdk.events.list({ limit: 100 })).data).toHaveLength(1);
  });

  it('A list lags behind, or breaks after its first page, as a fault asks', async () => {
    const { id: customer } = await sdk.customers.create({});
    const { id: starting_after } = await sdk.paymentIntents.create({
      amount: 100,
      currency: 'usd',
      customer,
    });
    const call = 'GET /v1/payment_intents';
    stripe.act({ action: 'fault', fault: 'lag', call, seconds: 60, times: 2 });
    expect((await sdk.paymentIntents.list({ customer })).data).toHaveLength(0);
    await stripe.advance(60);
    expect((await sdk.paymentIntents.list({ customer })).data).toHaveLength(1);
    stripe.act({ action: 'fault', fault: 'broken_page', call });
    expect((await sdk.paymentIntents.list({ customer })).data).toHaveLength(1);
    const next = sdk.paymentIntents.list({ customer, starting_after });
    expect(await refusal(next)).toMatchObject({ statusCode: 500 });
  });

  it('An Idempotency-Key replays the first answer for a day, declines and stored 500s included', async () => {
    const { intent } = await paid('pays');
    const first = await chargeAgain(intent, 'k1');
    const again = await chargeAgain(intent, 'k1');
    expect([again.id, again.lastResponse.headers['idempotent-replayed']]).toEqual([first.id, 'true']);
    const other = await refusal(
      sdk.paymentIntents.create({ amount: 100, currency: 'usd' }, { idempotencyKey: 'k1' }),
    );
    expect(other).toMatchObject({ type: 'StripeIdempotencyError', statusCode: 400 });

    stripe.act({ action: 'fault', fault: 'stored_error', call: 'POST /v1/payment_intents' });
    for (const _ of [1, 2])
      expect(await refusal(chargeAgain(intent, 'k2'))).toMatchObject({ statusCode: 500 });
    stripe.act({ action: 'fault', fault: 'error', call: 'POST /v1/payment_intents' });
    expect(await refusal(chargeAgain(intent, 'k3'))).toMatchObject({ statusCode: 500 });
    expect(await chargeAgain(intent, 'k3')).toMatchObject({ status: 'succeeded' });

    const wrong = sdk.paymentIntents.create({ amount: 1, currency: 'usd' }, { idempotencyKey: 'k4' });
    expect(await refusal(wrong)).toMatchObject({ code: 'amount_too_small' });
    await sdk.paymentIntents.create({ amount: 100, currency: 'usd' }, { idempotencyKey: 'k4' });

    await stripe.advance(24 * 3_600 + 1);
    expect((await chargeAgain(intent, 'k1')).id).not.toBe(first.id);
  });

  it('An effect that comes late holds its Idempotency-Key until then', async () => {
    const { intent } = await paid('pays');
    stripe.act({ action: 'fault', fault: 'late_effect', call: 'POST /v1/payment_intents', seconds: 300 });
    // The library itself sends a request again whose connection has ended without an answer.
    expect(await refusal(chargeAgain(intent, 'late'))).toMatchObject({ statusCode: 409 });
    const customer = intent.customer as string;
    expect((await sdk.paymentIntents.list({ customer })).data).toHaveLength(1);
    await stripe.advance(300);
    expect((await sdk.paymentIntents.list({ customer })).data).toHaveLength(2);
    const replay = await chargeAgain(intent, 'late');
    expect(replay.lastResponse.headers['idempotent-replayed']).toBe('true');
  });

  it('A wrong parameter, key or version is refused in the words of Stripe', async () => {
    const unknown = { ...checkout, payment_method_types: ['card'] };
    expect(await refusal(sdk.checkout.sessions.create(unknown as object))).toMatchObject({
      code: 'parameter_unknown',
      param: 'payment_method_types',
    });
    expect(await refusal(sdk.paymentIntents.create({ amount: 100 } as never))).toMatchObject({
      code: 'parameter_missing',
      param: 'currency',
    });
    const create = sdk.paymentIntents.create({ amount: 100, currency: 'usd' }, { apiKey: 'pk_test_public' });
    expect(await refusal(create)).toMatchObject({ type: 'StripeAuthenticationError', statusCode: 401 });
    const headers = { authorization: 'Bearer rk_test_fixture', 'stripe-version': '2026-08-26.dahlia' };
    expect((await fetch(`${stripe.url}/v1/events`, { headers })).status).toBe(400);
    const { id } = await sdk.checkout.sessions.create(checkout);
    const live = sdk.checkout.sessions.retrieve(id, {}, { apiKey: 'rk_live_other' });
    expect(await refusal(live)).toMatchObject({ code: 'resource_missing', statusCode: 404 });
  });

  it('Webhooks are signed with each secret, and are repeated until somebody takes them', async () => {
    await stripe.advance(0);
    stripe.webhooks.length = 0;
    stripe.receiver.status = 503;
    await sdk.customers.create({});
    await stripe.advance(299);
    expect(stripe.webhooks).toHaveLength(1);
    stripe.receiver.status = 200;
    await stripe.advance(3_600);
    const [first, second, third] = stripe.webhooks;
    expect([first?.body, third]).toEqual([second?.body, undefined]);
    for (const secret of ['whsec_old', webhookSecret]) {
      const { body = '', signature = '' } = second ?? {};
      const now = stripe.now() - 3_599_000;
      expect(sdk.webhooks.constructEvent(body, signature, secret, 300, undefined, now).type).toBe(
        'customer.created',
      );
    }
  });

  it('Events are dropped, doubled, held, reversed and altered as the control asks', async () => {
    await stripe.advance(0);
    const sent = async (how: string): Promise<string[]> => {
      stripe.webhooks.length = 0;
      stripe.act({ action: 'events', how, type: 'customer.', times: 2 });
      await sdk.customers.create({ name: 'first' });
      await sdk.customers.create({ name: 'second' });
      await stripe.advance(0);
      return stripe.webhooks.map(
        ({ body }) => (JSON.parse(body) as { data: { object: { name: string } } }).data.object.name,
      );
    };
    expect(await sent('drop')).toEqual([]);
    expect(await sent('double')).toEqual(['first', 'first', 'second', 'second']);
    expect(await sent('reverse')).toEqual([]);
    expect(stripe.act({ action: 'release' })).toEqual({ released: 2 });
    await stripe.advance(0);
    expect(stripe.webhooks[0]?.body).toContain('second');
    for (const how of ['alter', 'unsigned', 'stale', 'v0']) {
      await sent(how);
      const { body = '', signature = '' } = stripe.webhooks[0] ?? {};
      expect(() =>
        sdk.webhooks.constructEvent(body, signature, webhookSecret, 300, undefined, stripe.now()),
      ).toThrow(/signature|timestamp|header/i);
    }
  });
});
