/** What brings money in when no event comes, and the automatic top-up (M2, M3, M5 to M7, M9 to M16, M18, M22). */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { followPayments } from '../../service/payments/follow-payments.ts';
import { createWalletStore } from '../../service/accounts/wallet-store.ts';
import { queryAll } from '../../service/aws/dynamodb/query.ts';
import { deleteItem } from '../../service/aws/dynamodb/send.ts';
import { type ItemKey, keys } from '../../service/aws/dynamodb/table.ts';
import { paymentKey } from '../../service/payments/payment-store.ts';
import { newPaymentId } from '../../service/payments/payment.ts';
import { topUp } from '../../service/payments/top-up.ts';
import type { AccountId } from '../../service/values/ids.ts';
import { differencesIn } from '../fixtures/books.ts';
import { checkout as foreign, type SentWebhook, webhookSecret } from '../local/stripe/stripe-fixture.ts';
import { type Scene, startScene, usd } from './payment-scene.ts';

let scene: Scene;
beforeEach(async () => {
  scene = await startScene();
});
afterEach(async () => {
  expect(await differencesIn(scene.table)).toEqual([]);
  scene.end();
});

const spend = async (account: AccountId, dollars: number, why: string): Promise<void> => {
  await createWalletStore(scene.table).adjust(account, usd(-dollars), why);
};
const intents = () =>
  scene.fake.requests.filter(({ path, method }) => method === 'POST' && path === '/v1/payment_intents');
const made = async () => (await scene.fake.sdk.paymentIntents.list({ limit: 100 })).data;

const ledgerKeys = async (account: AccountId): Promise<readonly ItemKey[]> =>
  (await queryAll(scene.table, keys.account(account).pk, 'LEDGER#')).map(({ pk, sk }) => ({
    pk: String(pk),
    sk: String(sk),
  }));

function eventOf(type: string): SentWebhook {
  const found = scene.fake.webhooks.find(({ body }) => (JSON.parse(body) as { type: string }).type === type);
  if (!found) throw new Error(`there is no ${type}`);
  return found;
}

describe('A payment of a person', () => {
  it('is credited once by its event five times, the page after it and the listing, all at once', async () => {
    const account = await scene.account(5);
    const { fake } = scene;
    fake.act({ action: 'webhook', url: 'http://receiver.test/', secrets: [webhookSecret] });
    const payment = await scene.checkout(account, 25);
    scene.pay(payment);
    await fake.advance(605);
    const event = eventOf('checkout.session.completed');
    await Promise.all([
      ...Array.from({ length: 5 }, () => scene.receive(event)),
      scene.worker(),
      scene.worker(),
    ]);
    expect(await scene.available(account)).toBe(usd(30));
  });

  it('is credited within eleven minutes when no event comes', async () => {
    const account = await scene.account(5);
    // The polls of the payment do not see it: it is paid between two of them.
    const payment = await scene.checkout(account, 25);
    await scene.fake.advance(301);
    await scene.worker();
    await scene.worker();
    scene.pay(payment);
    for (let minute = 0; minute < 11; minute += 1) {
      await scene.fake.advance(60);
      await scene.worker();
    }
    expect(await scene.available(account)).toBe(usd(30));
  });

  it('is credited although its record is lost, as after a restore of the table', async () => {
    const account = await scene.account(5);
    const payment = await scene.checkout(account, 25);
    scene.pay(payment);
    await deleteItem(scene.table, paymentKey(payment.id));
    await scene.fake.advance(601);
    await scene.worker();
    await scene.worker();
    expect(await scene.available(account)).toBe(usd(30));
    expect(await scene.stored(payment)).toMatchObject({ state: 'succeeded', kind: 'checkout' });
  });

  it('is credited to a suspended account', async () => {
    const account = await scene.account(5);
    await scene.services.payments.suspend(account);
    const payment = await scene.checkout(account, 25);
    scene.pay(payment);
    await scene.fake.advance(61);
    await scene.worker();
    expect(await scene.available(account)).toBe(usd(30));
  });

  it('for an account that is lost is held, as after a restore of the table', async () => {
    const account = await scene.account(5);
    const payment = await scene.checkout(account, 25);
    scene.pay(payment);
    await deleteItem(scene.table, paymentKey(payment.id));
    for (const key of [keys.account(account), ...(await ledgerKeys(account))])
      await deleteItem(scene.table, key);
    await scene.fake.advance(601);
    await scene.worker();
    expect(scene.alarms).toEqual(['payment_held']);
    expect(await scene.stored(payment)).toMatchObject({ state: 'held', amountMicros: usd(25) });
  });

  it('ends when its page has expired, also when the answer with the page was lost', async () => {
    const account = await scene.account(5);
    const payment = await scene.checkout(account, 25);
    await scene.fake.advance(3_700);
    await scene.worker();
    expect(await scene.stored(payment)).toMatchObject({ state: 'expired' });
  });
});

describe('An event', () => {
  it('that is not signed as it should be is answered 400, and Stripe is not asked', async () => {
    const account = await scene.account(5);
    const { fake } = scene;
    fake.act({ action: 'webhook', url: 'http://receiver.test/', secrets: [webhookSecret, 'whsec_new'] });
    const payment = await scene.checkout(account, 25);
    scene.pay(payment);
    await fake.advance(5);
    const event = eventOf('payment_intent.succeeded');
    const asked = fake.requests.length;
    const { signature = '', body } = event;
    const all = [
      scene.receive(event, body.replace('evt_', 'evt-')),
      scene.receive({ ...event, signature: undefined }),
      scene.receive({ ...event, signature: signature.replaceAll('v1=', 'v0=') }),
      scene.receive({ ...event, signature: signature.replace(/t=\d+/, 't=1') }),
      scene.receive({ ...event, body: 'x'.repeat(257 * 1024) }),
    ];
    expect(await Promise.all(all)).toEqual([400, 400, 400, 400, 400]);
    expect(fake.requests).toHaveLength(asked);
    expect(await scene.receive(event)).toBe(200);
    expect(fake.requests.length).toBeGreaterThan(asked);
  });

  it('of the other mode, and of what somebody else sells, changes nothing', async () => {
    const account = await scene.account(5);
    const { fake } = scene;
    fake.act({ action: 'webhook', url: 'http://receiver.test/', secrets: [webhookSecret] });
    const payment = await scene.checkout(account, 25);
    scene.pay(payment);
    await fake.advance(5);
    const event = eventOf('payment_intent.succeeded');
    expect(await scene.receive(event, event.body, { livemode: () => Promise.resolve(true) })).toBe(200);
    expect(await scene.available(account)).toBe(usd(5));
    const [item] = foreign.line_items;
    const session = await fake.sdk.checkout.sessions.create({ ...foreign, line_items: [item] });
    fake.act({ action: 'pay', session: session.id, card: 'pays' });
    await fake.advance(601);
    await scene.worker();
    expect(scene.alarms).toEqual([]);
  });

  it('is answered 503 while Stripe does not say, so that Stripe repeats it', async () => {
    const account = await scene.account(5);
    const { fake } = scene;
    fake.act({ action: 'webhook', url: 'http://receiver.test/', secrets: [webhookSecret] });
    scene.pay(await scene.checkout(account, 25));
    await fake.advance(5);
    const event = eventOf('payment_intent.succeeded');
    fake.act({ action: 'fault', fault: 'rate_limit', call: 'GET /v1/', seconds: 60 });
    expect(await scene.receive(event)).toBe(503);
    expect(await scene.receive(event)).toBe(200);
    expect(await scene.available(account)).toBe(usd(30));
  });
});

describe('An automatic top-up', () => {
  it('makes one payment, however many workers and charges there are at once', async () => {
    const account = await scene.account(20);
    await scene.automatic(account);
    await Promise.all(Array.from({ length: 200 }, (_, index) => spend(account, 0.1, `charge ${index}`)));
    await Promise.all(Array.from({ length: 8 }, () => scene.worker()));
    expect(await made()).toHaveLength(2);
    expect(await scene.available(account)).toBe(usd(45));
  });

  it('sends the same Idempotency-Key again after a lost answer, and gets one payment', async () => {
    const account = await scene.account(10);
    await scene.automatic(account);
    scene.fake.act({ action: 'fault', fault: 'lost_answer', call: 'POST /v1/payment_intents', seconds: 60 });
    scene.fake.act({ action: 'fault', fault: 'lag', call: 'GET /v1/payment_intents', seconds: 300 });
    await scene.worker();
    await scene.fake.advance(61);
    await scene.worker();
    await scene.fake.advance(601);
    await scene.worker();
    expect(await scene.available(account)).toBe(usd(55));
    expect(new Set(intents().map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
    expect(await made()).toHaveLength(2);
  });

  it('repeats a call that never arrived, with the same key', async () => {
    const account = await scene.account(10);
    await scene.automatic(account);
    scene.fake.act({ action: 'fault', fault: 'error', call: 'POST /v1/payment_intents', seconds: 60 });
    await scene.worker();
    expect(await made()).toHaveLength(1);
    await scene.fake.advance(61);
    await scene.worker();
    expect(await scene.available(account)).toBe(usd(55));
    expect(new Set(intents().map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
  });

  it('keeps its reservation and pauses when Stripe stores an error and makes nothing for a day', async () => {
    const account = await scene.account(10);
    await scene.automatic(account);
    scene.fake.act({ action: 'fault', fault: 'stored_error', call: 'POST /v1/payment_intents', seconds: 60 });
    await scene.worker();
    for (let hours = 0; hours < 25; hours += 1) {
      await scene.fake.advance(3_600);
      await scene.worker();
    }
    const top = await scene.services.topUps.read(account);
    expect(top).toMatchObject({ paused: 'unknown', reservedMicros: { '2026_11': usd(40) } });
    expect(scene.alarms).toEqual(['payment_unknown']);
    expect(new Set(intents().map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
    expect(await scene.available(account)).toBe(usd(15));
  });

  it('takes at most the cap of a month, sends one notice, and runs again on the 1st', async () => {
    const account = await scene.account(10, 'https://client.test/notices');
    await scene.automatic(account);
    for (const round of [1, 2, 3]) {
      await scene.worker();
      await scene.fake.advance(60);
      await scene.worker();
      await spend(account, 40, `round ${round}`);
    }
    expect(await made()).toHaveLength(3);
    expect((await scene.services.topUps.read(account)).capTold).toBe('2026_11');
    await scene.fake.advance(4 * 86_400);
    await scene.worker();
    await scene.worker();
    await scene.worker();
    // Two of December: the first one was not enough.
    expect(await made()).toHaveLength(5);
    expect(await scene.available(account)).toBe(usd(55));
  });

  it('pauses for a card that wants its owner, and a payment with a saved card ends the pause', async () => {
    const account = await scene.account(10, 'https://client.test/notices');
    await scene.automatic(account, 'authentication');
    await scene.worker();
    const { topUps } = scene.services;
    expect(await topUps.read(account)).toMatchObject({
      paused: 'authentication_required',
      reservedMicros: { '2026_11': 0 },
    });
    expect(await topUp(scene.services, account)).toEqual({ kind: 'not_begun', why: 'not_running' });
    const tried = intents().length;
    for (let day = 0; day < 7; day += 1) {
      await scene.fake.advance(86_400);
      await scene.worker();
    }
    expect(intents()).toHaveLength(tried);
    const payment = await scene.checkout(account, 4, true);
    scene.pay(payment);
    await scene.fake.advance(61);
    await scene.worker();
    expect((await topUps.read(account)).paused).toBeUndefined();
    await scene.worker();
    expect(await scene.available(account)).toBe(usd(59));
  });

  it('takes nothing for an account that is suspended', async () => {
    const account = await scene.account(10);
    await scene.automatic(account);
    await scene.services.payments.suspend(account);
    await scene.worker();
    expect(await made()).toHaveLength(1);
  });

  it('reads page after page of events, each page after the last event of the page before', async () => {
    await scene.automatic(await scene.account(10));
    await scene.automatic(await scene.account(10));
    await scene.fake.advance(601);
    const { stripe } = scene.services;
    const after: (string | undefined)[] = [];
    const ids: string[] = [];
    /** One event on each page. */
    const listEvents: typeof stripe.listEvents = async (types, since, last) => {
      const answer = await stripe.listEvents(types, since, undefined);
      if (answer.kind !== 'ok' || after.length > 100) throw new Error('there is no end');
      after.push(last);
      const { items } = answer.object;
      ids.splice(0, ids.length, ...items.map(({ id }) => id));
      const from = last === undefined ? 0 : ids.indexOf(last) + 1;
      return {
        ...answer,
        object: { items: items.slice(from, from + 1), hasMore: from + 1 < items.length },
      };
    };
    const services = { ...scene.services, stripe: { ...stripe, listEvents } };
    expect(await followPayments(services, () => 60_000)).toMatchObject({ events: ids.length });
    expect(ids.length).toBeGreaterThan(2);
    expect(after).toEqual([undefined, ...ids.slice(0, -1)]);
  });

  it('begins nothing in a restored table before the events are read', async () => {
    const account = await scene.account(10);
    await scene.automatic(account);
    await scene.fake.advance(7_200);
    scene.fake.act({ action: 'fault', fault: 'rate_limit', call: 'GET /v1/events', seconds: 60, times: 1 });
    await scene.worker();
    expect(await made()).toHaveLength(1);
    expect(scene.alarms).toEqual(['payments_behind']);
    await scene.worker();
    expect(await made()).toHaveLength(2);
  });

  it('first credits an automatic payment that a restore of the table has lost', async () => {
    const account = await scene.account(10);
    await scene.automatic(account);
    const { customer = '', card } = await scene.services.topUps.read(account);
    const lost = newPaymentId(account, scene.fake.now(), scene.table.randomBytes(16));
    await scene.fake.sdk.paymentIntents.create({
      ...{ amount: 4_000, currency: 'usd', confirm: true, off_session: true },
      ...{ customer, payment_method: card?.paymentMethod ?? '' },
      metadata: { payment: lost, account, kind: 'auto', amount: String(usd(40)) },
    });
    await scene.fake.advance(601);
    scene.fake.act({ action: 'fault', fault: 'rate_limit', call: 'GET /v1/events', seconds: 60 });
    await scene.worker();
    expect(await made()).toHaveLength(2);
    expect(await scene.available(account)).toBe(usd(55));
    expect(await scene.services.topUps.read(account)).toMatchObject({
      reservedMicros: { '2026_11': usd(40) },
    });
  });

  it('says that the key of Stripe is refused', async () => {
    const account = await scene.account(10);
    await scene.automatic(account);
    scene.fake.act({ action: 'fault', fault: 'revoked', call: 'POST /v1/payment_intents', seconds: 60 });
    await scene.worker();
    expect(scene.alarms).toEqual(['payment_key_refused']);
    expect(await scene.services.topUps.read(account)).toMatchObject({
      reservedMicros: { '2026_11': usd(40) },
    });
  });
});
