/** A payment that is followed at the fake of Stripe, over sockets, into the wallet of the memory table. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createAccountSettings } from '../../service/accounts/account-settings-store.ts';
import { createWalletStore } from '../../service/accounts/wallet-store.ts';
import { systemClock } from '../../service/aws/clock.ts';
import type { Table } from '../../service/aws/dynamodb/table.ts';
import { createAutoTopUpStore } from '../../service/payments/auto-top-up-store.ts';
import { type Followed, type FollowServices, followPayment } from '../../service/payments/follow-payment.ts';
import { newPaymentId, type StripePayment } from '../../service/payments/payment.ts';
import { eventTypes, followHint } from '../../service/payments/payment-hint.ts';
import { createStripePaymentStore } from '../../service/payments/stripe-payment-store.ts';
import { createStripe, type StripeOutcome } from '../../service/payments/stripe/client.ts';
import type { AccountId } from '../../service/values/ids.ts';
import { asMicros } from '../../service/values/money.ts';
import { differencesIn } from '../fixtures/books.ts';
import { anAccount } from '../fixtures/records.ts';
import {
  checkout as sdkOrder,
  startStripe,
  type TestStripe,
  testKey,
} from '../local/stripe/stripe-fixture.ts';
import { startMemory } from '../tables/engines.ts';

const usd = (dollars: number) => asMicros(dollars * 1_000_000);

let fake: TestStripe;
let table: Table;
let services: FollowServices;
let account: AccountId;
let accounts = 0;
beforeAll(async () => {
  [fake, table] = await Promise.all([startStripe(), startMemory().then(async ({ open }) => open())]);
  services = {
    stripe: createStripe({ key: () => Promise.resolve(testKey), baseUrl: fake.url, clock: systemClock }),
    payments: createStripePaymentStore(table),
    clock: { now: () => fake.now() },
    livemode: () => Promise.resolve(false),
    paymentNotices: { prepare: () => Promise.resolve(undefined), stored: () => Promise.resolve() },
  };
  await services.payments.moveCursor(table.clock.now());
});
afterAll(() => fake.end());
beforeEach(async () => {
  accounts += 1;
  account = `Buyer${String(accounts).padStart(5, '0')}` as AccountId;
  await createWalletStore(table).open(anAccount({ id: account, availableMicros: usd(5) }));
});

function objectOf<Found>(outcome: StripeOutcome<Found>): Found {
  if (outcome.kind !== 'ok') throw new Error(`not ok: ${JSON.stringify(outcome)}`);
  return outcome.object;
}

function aPayment(change: Partial<StripePayment> = {}): StripePayment {
  return {
    id: newPaymentId(account, fake.now(), table.randomBytes(16)),
    accountId: account,
    kind: 'checkout',
    state: 'open',
    amountMicros: usd(25),
    reversedMicros: asMicros(0),
    version: 1,
    month: '2026_11',
    livemode: false,
    at: new Date(fake.now()).toISOString(),
    ...change,
  };
}

const chosen = {
  ...{ isOn: true, thresholdMicros: usd(100), amountMicros: usd(40) },
  monthlyCapMicros: usd(100),
};
const choose = async () => {
  const topUps = createAutoTopUpStore(table);
  expect(await topUps.choose(await topUps.read(account), chosen)).toBe(true);
};
const topUp = async () => createAutoTopUpStore(table).read(account);

const metadataOf = ({ id, accountId }: StripePayment) => ({ payment: id, account: accountId });

/** A payment page for 25 USD, with other values if `told` has some. */
async function checkout(
  told: {
    readonly amountCents?: number;
    readonly metadata?: Record<string, string>;
    readonly automaticTax?: boolean;
  } = {},
): Promise<StripePayment> {
  const payment = aPayment();
  const session = objectOf(
    await services.stripe.createSession(
      {
        ...{ amountCents: 2_500, product: 'Credit', reference: payment.id, metadata: metadataOf(payment) },
        ...{ savesCard: true, expiresAt: Math.floor(fake.now() / 1_000) + 1_860 },
        ...{ successUrl: 'https://portal.test/', cancelUrl: 'https://portal.test/' },
        ...{ automaticTax: false, taxIds: false, invoices: false },
        ...told,
      },
      `dr_${payment.id}`,
    ),
  );
  const begun = { ...payment, session: session.id };
  await services.payments.beginCheckout(begun);
  return begun;
}

const pay = (payment: StripePayment, card = 'pays') =>
  fake.act({ action: 'pay', session: payment.session, card });
const follow = async ({ id }: StripePayment): Promise<Followed> => followPayment(services, await stored(id));
async function stored(id: StripePayment['id']): Promise<StripePayment> {
  const found = await services.payments.read(id);
  if (!found) throw new Error('there is no payment');
  return found;
}
const available = async () => (await createAccountSettings(table).read(account))?.availableMicros;

async function paid(): Promise<StripePayment> {
  const payment = await checkout();
  pay(payment);
  expect(await follow(payment)).toEqual({ kind: 'succeeded' });
  return stored(payment.id);
}

describe('A Checkout', () => {
  it('is credited once by every hint at once, with what was to be paid', async () => {
    const payment = await checkout();
    expect(await follow(payment)).toEqual({ kind: 'waiting' });
    pay(payment);
    await Promise.all(Array.from({ length: 8 }, async () => follow(payment)));
    expect(await follow(payment)).toEqual({ kind: 'succeeded' });
    expect(await available()).toBe(usd(30));
    expect(await differencesIn(table)).toEqual([]);
  });

  it('is checked after each event of Stripe that can change it, and after no other event', async () => {
    const payment = await paid();
    const hint = async (type: string) => {
      const { paymentIntent = null } = payment;
      const event = { id: 'evt_1', type, created: 0, livemode: false, objectId: 'any', paymentIntent };
      return (await followHint(services, event)).kind;
    };
    const types = [
      ...['completed', 'async_payment_succeeded', 'async_payment_failed', 'expired'].map(
        (end) => `checkout.session.${end}`,
      ),
      ...['succeeded', 'processing', 'payment_failed', 'canceled'].map((end) => `payment_intent.${end}`),
      ...['refund.created', 'refund.updated', 'refund.failed', 'charge.refunded'],
      ...['created', 'updated', 'funds_withdrawn', 'funds_reinstated', 'closed'].map(
        (end) => `charge.dispute.${end}`,
      ),
    ];
    expect(types.toSorted()).toEqual(eventTypes.toSorted());
    expect(new Set(await Promise.all(types.map(hint)))).toEqual(new Set(['succeeded']));
    expect(await hint('charge.captured')).toBe('ignored');
  });

  it('is not credited while the money is on its way, and not after it failed', async () => {
    const payment = await checkout();
    pay(payment, 'bank_fails');
    expect(await follow(payment)).toEqual({ kind: 'processing' });
    const { paymentIntent } = await stored(payment.id);
    fake.act({ action: 'settle', payment_intent: paymentIntent, as: 'failed' });
    expect(await follow(payment)).toEqual({ kind: 'ended' });
    expect(await stored(payment.id)).toMatchObject({ state: 'failed' });
    expect(await available()).toBe(usd(5));
  });

  it('waits when a card was declined on its page, and is credited when the next card pays', async () => {
    const payment = await checkout();
    pay(payment, 'declined');
    expect(await follow(payment)).toEqual({ kind: 'waiting' });
    pay(payment);
    expect(await follow(payment)).toEqual({ kind: 'succeeded' });
    expect(await available()).toBe(usd(30));
  });

  it('is ended when its page has expired', async () => {
    const payment = await checkout();
    await fake.advance(2_000);
    expect(await follow(payment)).toEqual({ kind: 'ended' });
    expect(await stored(payment.id)).toMatchObject({ state: 'expired' });
  });

  it('is credited without the tax that was paid on top', async () => {
    const payment = await checkout({ automaticTax: true });
    pay(payment);
    expect(await follow(payment)).toEqual({ kind: 'succeeded' });
    expect(await available()).toBe(usd(30));
    // Half of what was paid with the tax is half of the credit.
    const { paymentIntent } = await stored(payment.id);
    fake.act({ action: 'refund', payment_intent: paymentIntent, amount: 1_375, as: 'succeeded' });
    await follow(payment);
    expect(await available()).toBe(usd(17.5));
  });

  it('is credited, and its refund debited, when somebody deletes its metadata at the PaymentIntent', async () => {
    const payment = await checkout();
    pay(payment);
    const [intent] = fake.fake.account.list('payment_intent', false);
    Object.assign(intent ?? {}, { metadata: {} });
    expect(await follow(payment)).toEqual({ kind: 'succeeded' });
    fake.act({ action: 'refund', payment_intent: intent?.id, amount: 1_000, as: 'succeeded' });
    await follow(payment);
    expect(await available()).toBe(usd(20));
  });

  it.each([
    ['too_little', { amountCents: 2_400 }],
    ['other_payment', { metadata: { payment: 'pay_other', account: 'other' } }],
  ] as const)('is held when Stripe took something else (%s)', async (why, told) => {
    const payment = await checkout(told);
    pay(payment);
    expect(await follow(payment)).toEqual({ kind: 'held', why, isNew: true });
    expect(await stored(payment.id)).toMatchObject({ state: 'held' });
    expect(await available()).toBe(usd(5));
  });

  it('is held when it was paid in another currency', async () => {
    const payment = aPayment();
    const [item] = sdkOrder.line_items;
    const session = await fake.sdk.checkout.sessions.create({
      ...sdkOrder,
      line_items: [{ ...item, price_data: { ...item.price_data, currency: 'eur' } }],
      payment_intent_data: { metadata: metadataOf(payment) },
    });
    await services.payments.beginCheckout({ ...payment, session: session.id });
    fake.act({ action: 'pay', session: session.id, card: 'pays' });
    expect(await follow(payment)).toEqual({ kind: 'held', why: 'other_currency', isNew: true });
    expect(await available()).toBe(usd(5));
  });

  it('is held when it is of the other mode', async () => {
    const payment = await checkout();
    pay(payment);
    const live = { ...services, livemode: () => Promise.resolve(true) };
    expect(await followPayment(live, payment)).toEqual({ kind: 'held', why: 'other_mode', isNew: true });
    expect(await available()).toBe(usd(5));
  });

  it('waits for a later poll while Stripe does not say', async () => {
    const payment = await checkout();
    pay(payment);
    fake.act({ action: 'fault', fault: 'rate_limit', call: 'GET /v1/checkout', seconds: 60 });
    expect(await follow(payment)).toEqual({ kind: 'later', why: 'rate_limit' });
    expect(await follow(payment)).toEqual({ kind: 'succeeded' });
  });
});

describe('A refund or a dispute', () => {
  it('takes two halves, each once, in any number of polls', async () => {
    const payment = await paid();
    for (const left of [17.5, 5]) {
      fake.act({
        action: 'refund',
        payment_intent: payment.paymentIntent,
        amount: 1_250,
        as: 'succeeded',
      });
      await Promise.all([follow(payment), follow(payment), follow(payment)]);
      expect(await follow(payment)).toEqual({ kind: 'succeeded' });
      expect(await available()).toBe(usd(left));
    }
    expect(await differencesIn(table)).toEqual([]);
  });

  it('gives a refund back that fails later', async () => {
    const payment = await paid();
    const { id } = fake.act({
      action: 'refund',
      payment_intent: payment.paymentIntent,
      as: 'pending',
    }) as { id: string };
    await follow(payment);
    expect(await available()).toBe(usd(5));
    fake.act({ action: 'end_refund', refund: id, as: 'failed' });
    await follow(payment);
    expect(await available()).toBe(usd(30));
  });

  it('takes a dispute once, nothing for an inquiry, and gives a won one back', async () => {
    const payment = await paid();
    await choose();
    const dispute = (as: string) =>
      fake.act({ action: 'dispute', payment_intent: payment.paymentIntent, as });
    for (const [as, left] of [
      ['inquiry', 30],
      ['opened', 5],
      ['won', 30],
    ] as const) {
      dispute(as);
      await Promise.all([follow(payment), follow(payment)]);
      await follow(payment);
      expect(await available(), as).toBe(usd(left));
    }
    const ledger = await createWalletStore(table).ledger(account);
    expect(ledger.flatMap(({ reason }) => reason ?? [])).toEqual(['dispute', 'dispute_won']);
    expect(await topUp()).toMatchObject({ paused: 'dispute' });
  });
});

describe('An automatic payment', () => {
  async function begin(
    card: string,
  ): Promise<{ readonly payment: StripePayment; readonly send: () => Promise<unknown> }> {
    const first = await checkout();
    pay(first, card);
    await follow(first);
    const { paymentIntent, customer = '' } = await stored(first.id);
    const { paymentMethod } = objectOf(await services.stripe.getPaymentIntent(paymentIntent ?? ''));
    await choose();
    const payment = aPayment({ kind: 'auto', amountMicros: usd(40), customer });
    expect(await services.payments.beginAuto(payment, await topUp())).toBe('begun');
    const order = {
      ...{ amountCents: 4_000, customer, paymentMethod: paymentMethod ?? '', description: 'Top-up' },
      metadata: metadataOf(payment),
    };
    return { payment, send: () => services.stripe.createPaymentIntent(order, `dr_${payment.id}`) };
  }

  it('is found by our id when the answer to its creation was lost', async () => {
    const { payment, send } = await begin('pays');
    expect(await follow(payment)).toEqual({ kind: 'later', why: 'not_found' });
    fake.act({ action: 'fault', fault: 'lost_answer', call: 'POST /v1/payment_intents', seconds: 60 });
    expect(await send()).toMatchObject({ kind: 'unknown' });
    expect(await follow(payment)).toEqual({ kind: 'succeeded' });
    expect(await available()).toBe(usd(70));
    expect(await topUp()).toMatchObject({
      reservedMicros: { '2026_11': usd(40) },
    });
  });

  it('is cancelled at Stripe before its reservation is given back, and pauses the top-up', async () => {
    const { payment, send } = await begin('authentication');
    expect(await send()).toMatchObject({ kind: 'refused' });
    expect(await follow(payment)).toEqual({ kind: 'ended' });
    const { paymentIntent } = await stored(payment.id);
    expect(objectOf(await services.stripe.getPaymentIntent(paymentIntent ?? '')).status).toBe('canceled');
    expect(await topUp()).toMatchObject({
      reservedMicros: { '2026_11': 0 },
      paused: 'authentication_required',
    });
  });
});
