/** Payments and the automatic top-up as people of an account and of the operator use them (M21, M23, M24). */
import { describe, expect, it } from 'vitest';
import { autoTopUpKey, createTopUpState } from '../../service/accounts/top-up-state-reads.ts';
import { putItem } from '../../service/aws/dynamodb/send.ts';
import type * as view from '../../service/contract/portal-views.ts';
import { followPayment } from '../../service/payments/follow-payment.ts';
import type { PaymentId } from '../../service/payments/payment.ts';
import { asMicros } from '../../service/values/money.ts';
import { paidBy } from './filled-account.ts';
import { type Answered, fieldsOf, openWholePortal, type SignedIn, type WholePortal } from './whole-portal.ts';

const paymentsIn = ({ text }: Answered) => JSON.parse(text) as view.PaymentsView;
const topUpIn = ({ text }: Answered) => JSON.parse(text) as view.AutoTopUpView;
const choice = { is_on: true, threshold: 10, amount: 20, monthly_cap: 100, version: 1 };

async function open(): Promise<{ portal: WholePortal; owner: SignedIn }> {
  const portal = openWholePortal();
  const owner = await portal.signIn('owner@studio.test', await portal.openAccount('Acc0unt001'), 'owner');
  return { portal, owner };
}

const reasonOf = ({ status, body }: Answered) => [status, body.error.details.reason];

describe('A payment', () => {
  it('is shown with what was credited, to the account alone', async () => {
    const { portal, owner } = await open();
    const id = await paidBy(portal, owner);
    const shown = paymentsIn(await portal.ask('listPayments', { as: owner }));
    expect(shown).toMatchObject({ test_mode: true, is_closed: false, least: 5, largest: 1_000 });
    expect(shown.data).toMatchObject([
      { id, kind: 'checkout', state: 'succeeded', amount: 5, credited: 5, reversed: 0, has_receipt: true },
    ]);
    const other = await portal.signIn('owner@rival.test', await portal.openAccount('Acc0unt002'), 'owner');
    const absent = await portal.ask('getPayment', { as: other, id: 'pay_nothing' });
    expect(await portal.ask('getPayment', { as: other, id })).toEqual(absent);
    expect(absent.status).toBe(404);
  });

  it('is of 5 to 1,000 USD in whole cents', async () => {
    const { portal, owner } = await open();
    for (const amount of [4.99, 1_000.01, 25.001, 'x'])
      expect(
        fieldsOf(await portal.ask('beginPayment', { as: owner, body: { amount, save_card: false } })),
        String(amount),
      ).toEqual(['amount']);
  });

  it('begins ten times an hour at most', async () => {
    const { portal, owner } = await open();
    const begin = (as = owner) => portal.ask('beginPayment', { as, body: { amount: 5, save_card: false } });
    for (let count = 0; count < 10; count += 1) expect((await begin()).status).toBe(201);
    const refused = await begin();
    expect(reasonOf(refused)).toEqual([429, 'checkout_rate']);
    expect(Number(refused.headers['retry-after'])).toBe(3_600);
    portal.clock.set(portal.clock.now() + 3_600_000);
    const later = await portal.signIn('owner@studio.test', 'Acc0unt001' as never, 'owner');
    expect((await begin(later)).status).toBe(201);
  });

  it('cannot begin or be shown before the operator has entered the key of Stripe', async () => {
    const { portal, owner } = await open();
    portal.stripe.operator.hasKey = false;
    for (const name of ['listPayments', 'getAutoTopUp', 'beginPayment'] as const) {
      const body = name === 'beginPayment' ? { amount: 5, save_card: false } : undefined;
      expect(reasonOf(await portal.ask(name, { as: owner, body }))).toEqual([409, 'payments_not_set_up']);
    }
    portal.stripe.operator.hasKey = true;
    expect(paymentsIn(await portal.ask('listPayments', { as: owner })).data).toEqual([]);
  });

  it('does not begin while Stripe does not answer, and nothing is credited', async () => {
    const { portal, owner } = await open();
    portal.stripe.act({ action: 'fault', fault: 'error', call: 'POST /v1/checkout', seconds: 60 });
    const begin = () => portal.ask('beginPayment', { as: owner, body: { amount: 5, save_card: false } });
    expect(reasonOf(await begin())).toEqual([503, 'payment_system_unavailable']);
    portal.stripe.act({ action: 'fault', fault: 'revoked', call: 'POST /v1/checkout', seconds: 60 });
    expect(reasonOf(await begin())).toEqual([503, 'payment_system_unavailable']);
    expect(portal.log.lines).toContain('alarm payment_key_refused');
    expect((await begin()).status).toBe(201);
  });

  it('begins for an account whose customer was deleted at Stripe', async () => {
    const { portal, owner } = await open();
    const { pk, sk } = autoTopUpKey('Acc0unt001' as never);
    await putItem(portal.table, { pk, sk, customer: 'cus_deleted', version: 1 });
    const id = await paidBy(portal, owner);
    expect((await portal.topUps.read('Acc0unt001' as never)).customer).not.toBe('cus_deleted');
    expect((await portal.stripePayments.read(id as PaymentId))?.state).toBe('succeeded');
  });

  it('does not begin after a dispute, until the operator opens payments again', async () => {
    const { portal, owner } = await open();
    const id = (await paidBy(portal, owner)) as PaymentId;
    const payment = await portal.stripePayments.read(id);
    if (!payment) throw new Error('no payment');
    portal.stripe.act({ action: 'dispute', payment_intent: payment.paymentIntent, as: 'opened' });
    await followPayment(
      {
        stripe: portal.stripe.system.stripe,
        payments: portal.stripePayments,
        clock: portal.clock,
        livemode: portal.stripe.system.livemode,
        paymentNotices: { prepare: () => Promise.resolve(undefined), stored: () => Promise.resolve() },
      },
      payment,
    );
    const begin = () => portal.ask('beginPayment', { as: owner, body: { amount: 5, save_card: true } });
    expect(reasonOf(await begin())).toEqual([409, 'payments_closed']);
    expect(reasonOf(await portal.ask('resumeAutoTopUp', { as: owner }))).toEqual([409, 'paused_by_operator']);
    expect(paymentsIn(await portal.ask('listPayments', { as: owner })).is_closed).toBe(true);
    await portal.topUps.resume(await portal.topUps.read(payment.accountId));
    expect((await begin()).status).toBe(201);
  });

  it('that is held is what the operator sees first', async () => {
    const { portal, owner } = await open();
    const { body } = await portal.ask('beginPayment', { as: owner, body: { amount: 7, save_card: false } });
    const begun = await portal.stripePayments.read(body.id as PaymentId);
    if (begun) await portal.stripePayments.hold(begun);
    const operator = await portal.signIn('operator@service.test', undefined, 'operator');
    const held = await portal.ask('listHeldPayments', { as: operator });
    expect(JSON.parse(held.text)).toMatchObject({
      data: [{ id: body.id, account: 'Acc0unt001', account_name: 'Acc0unt001', state: 'held', amount: 7 }],
    });
    const ofAccount = await portal.ask('listAccountPayments', { as: operator, id: 'Acc0unt001' });
    expect(paymentsIn(ofAccount).data).toHaveLength(1);
    expect((await portal.ask('listAccountPayments', { as: operator, id: 'Acc0unt009' })).status).toBe(404);
  });
});

describe('The automatic top-up', () => {
  it('needs a saved card, and is shown in the balance while it is on', async () => {
    const { portal, owner } = await open();
    const refused = await portal.ask('setAutoTopUp', { as: owner, body: { ...choice, version: 0 } });
    expect(reasonOf(refused)).toEqual([409, 'no_card']);
    await paidBy(portal, owner);
    const before = topUpIn(await portal.ask('getAutoTopUp', { as: owner }));
    expect(before).toMatchObject({ is_on: false, threshold: null, card: { brand: 'visa', last4: '4242' } });
    const body = { ...choice, version: before.version };
    expect(topUpIn(await portal.ask('setAutoTopUp', { as: owner, body }))).toMatchObject({
      ...{ is_on: true, threshold: 10, amount: 20, monthly_cap: 100, used: 0, paused: null },
      open_payment: null,
    });
    const state = async () => {
      const account = await portal.accounts.read('Acc0unt001' as never);
      return account && createTopUpState(portal.table)(account);
    };
    expect(await state()).toBe('on');
    await portal.wallet.adjust('Acc0unt001' as never, asMicros(-30_000_000), 'spent');
    const body402 = { model: 'sandbox-standard', prompt: 'a lake' };
    const refusedForMoney = await portal.ask('createCreation', { as: owner, body: body402 });
    expect(refusedForMoney.body.error.details).toMatchObject({ available: 0, auto_top_up: 'on' });
    await portal.topUps.pause(await portal.topUps.read('Acc0unt001' as never), 'declined');
    expect(await state()).toBe('paused');
    expect(topUpIn(await portal.ask('resumeAutoTopUp', { as: owner })).paused).toBeNull();
    const off = {
      ...body,
      is_on: false,
      version: topUpIn(await portal.ask('getAutoTopUp', { as: owner })).version,
    };
    expect(topUpIn(await portal.ask('setAutoTopUp', { as: owner, body: off })).is_on).toBe(false);
    expect(await state()).toBeUndefined();
  });

  it('names each wrong field, and stores nothing on what was read before a change', async () => {
    const { portal, owner } = await open();
    await paidBy(portal, owner);
    const set = (change: object) => portal.ask('setAutoTopUp', { as: owner, body: { ...choice, ...change } });
    expect(fieldsOf(await set({ threshold: 0.5 }))).toEqual(['threshold']);
    expect(fieldsOf(await set({ threshold: 30 }))).toEqual(['amount']);
    expect(fieldsOf(await set({ amount: 2_000, monthly_cap: 3_000 }))).toEqual(['amount']);
    expect(fieldsOf(await set({ monthly_cap: 19 }))).toEqual(['monthly_cap']);
    expect((await set({})).status).toBe(200);
    expect(reasonOf(await set({}))).toEqual([409, 'changed_meanwhile']);
  });

  it('is changed with a fresh sign-in alone', async () => {
    const { portal } = await open();
    const stale = await portal.signIn('old@studio.test', 'Acc0unt001' as never, 'owner', {
      ageMillis: 16 * 60_000,
    });
    for (const name of ['setAutoTopUp', 'removeCard'] as const)
      expect(reasonOf(await portal.ask(name, { as: stale, body: choice }))).toEqual([403, 'reauthenticate']);
    expect((await portal.ask('getAutoTopUp', { as: stale })).status).toBe(200);
  });

  it('loses its card only when Stripe has forgotten the card', async () => {
    const { portal, owner } = await open();
    await paidBy(portal, owner);
    portal.stripe.act({ action: 'fault', fault: 'error', call: 'POST /v1/payment_methods', seconds: 60 });
    expect(reasonOf(await portal.ask('removeCard', { as: owner }))).toEqual([
      503,
      'payment_system_unavailable',
    ]);
    expect(topUpIn(await portal.ask('getAutoTopUp', { as: owner })).card).not.toBeNull();
    expect(topUpIn(await portal.ask('removeCard', { as: owner })).card).toBeNull();
    expect(topUpIn(await portal.ask('removeCard', { as: owner })).card).toBeNull();
    expect(portal.stripe.requests.filter(({ path }) => path.endsWith('/detach'))).toHaveLength(2);
  });
});
