/** The transactions of payments: what races, repeats and lost answers leave in the wallet. */
import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createAccountSettings } from '../../service/accounts/account-settings-store.ts';
import { createWalletStore } from '../../service/accounts/wallet-store.ts';
import { getItem } from '../../service/aws/dynamodb/send.ts';
import type { Table } from '../../service/aws/dynamodb/table.ts';
import { autoTopUpKey } from '../../service/accounts/top-up-state-reads.ts';
import { type AutoTopUpStore, createAutoTopUpStore } from '../../service/payments/auto-top-up-store.ts';
import { type AutoTopUp, noTopUp } from '../../service/payments/auto-top-up.ts';
import {
  createStripePaymentStore,
  type StripePaymentStore,
} from '../../service/payments/stripe-payment-store.ts';
import { newPaymentId, type StripePayment } from '../../service/payments/payment.ts';
import type { AccountId } from '../../service/values/ids.ts';
import { asMicros } from '../../service/values/money.ts';
import { anAccount, now } from '../fixtures/records.ts';
import { differencesIn } from '../fixtures/books.ts';
import { startMemory } from '../tables/engines.ts';

const usd = (dollars: number) => asMicros(dollars * 1_000_000);
const month = '2026_11';
const crowd = Array.from({ length: 20 });

let table: Table;
let store: StripePaymentStore;
let topUps: AutoTopUpStore;
let account: AccountId;
let accounts = 0;
beforeAll(async () => {
  table = await (await startMemory()).open();
  store = createStripePaymentStore(table);
  topUps = createAutoTopUpStore(table);
  await store.moveCursor(table.clock.now());
});
beforeEach(async () => {
  accounts += 1;
  account = `Payer${String(accounts).padStart(5, '0')}` as AccountId;
  await createWalletStore(table).open(anAccount({ id: account, availableMicros: usd(10) }));
});

function aPayment(change: Partial<StripePayment> = {}): StripePayment {
  return {
    id: newPaymentId(account, now, table.randomBytes(16)),
    accountId: account,
    kind: 'checkout',
    state: 'open',
    amountMicros: usd(40),
    reversedMicros: asMicros(0),
    version: 1,
    month,
    livemode: false,
    at: new Date(now).toISOString(),
    ...change,
  };
}

const chosen = {
  isOn: true,
  thresholdMicros: usd(20),
  amountMicros: usd(40),
  monthlyCapMicros: usd(100),
};

async function available(): Promise<number | undefined> {
  return (await createAccountSettings(table).read(account))?.availableMicros;
}

const topUp = async (): Promise<AutoTopUp> => topUps.read(account);

async function stored({ id }: StripePayment): Promise<StripePayment> {
  const found = await store.read(id);
  if (!found) throw new Error('there is no payment');
  return found;
}

async function rows() {
  const ledger = await createWalletStore(table).ledger(account);
  return ledger.filter(({ kind }) => kind.startsWith('payment'));
}

describe('A payment that Stripe took', () => {
  it('is credited once, however many report it at once', async () => {
    const payment = aPayment();
    await store.beginCheckout(payment);
    const outcomes = await Promise.all(crowd.map(async () => store.settle(payment)));
    expect(outcomes.filter((outcome) => outcome === 'credited')).toHaveLength(1);
    expect(await available()).toBe(usd(50));
    expect(await rows()).toMatchObject([{ kind: 'payment', amountMicros: usd(40), payment: payment.id }]);
    expect(await stored(payment)).toMatchObject({ state: 'succeeded', creditedMicros: usd(40) });
    expect(await differencesIn(table)).toEqual([]);
  });

  it.each(['failed', 'unknown', 'expired'] as const)('is credited after it was %s', async (state) => {
    const payment = aPayment();
    await store.beginCheckout(payment);
    expect(await store.fail(payment.id, { state })).toBe(true);
    expect(await store.settle(payment)).toBe('credited');
    expect(await store.settle(payment)).toBe('already');
    expect(await available()).toBe(usd(50));
  });

  it('is credited without a record, as after a restore of the table, and counts in its month', async () => {
    await topUps.choose(noTopUp(account), chosen);
    const payment = aPayment({ kind: 'auto' });
    expect(await store.settle(payment)).toBe('credited');
    expect(await store.settle(payment)).toBe('already');
    expect((await topUp()).reservedMicros).toEqual({ [month]: usd(40) });
    expect(await available()).toBe(usd(50));
  });

  it('is credited once when the answer of the table is lost', async () => {
    const payment = aPayment();
    await store.beginCheckout(payment);
    let lost = 0;
    const client = Object.create(table.client, {
      send: {
        value: async (command: object) => {
          const answer = await table.client.send(command as TransactWriteCommand);
          if (!(command instanceof TransactWriteCommand) || lost > 0) return answer;
          lost += 1;
          throw Object.assign(new Error('socket hang up'), { name: 'TimeoutError' });
        },
      },
    }) as Table['client'];
    expect(await createStripePaymentStore({ ...table, client }).settle(payment)).toBe('credited');
    expect(lost).toBe(1);
    expect(await available()).toBe(usd(50));
    expect(await store.settle(payment)).toBe('already');
  });
});

describe('An automatic payment', () => {
  const begin = async (): Promise<StripePayment> => {
    const payment = aPayment({ kind: 'auto' });
    expect(await store.beginAuto(payment, await topUp())).toBe('begun');
    return payment;
  };
  beforeEach(async () => {
    await topUps.choose(noTopUp(account), chosen);
  });

  it('begins once, however many see the low balance at once', async () => {
    const top = await topUp();
    const outcomes = await Promise.all(
      crowd.map(async () => store.beginAuto(aPayment({ kind: 'auto' }), top)),
    );
    expect(outcomes.filter((outcome) => outcome === 'begun')).toHaveLength(1);
    expect(await topUp()).toMatchObject({ reservedMicros: { [month]: usd(40) } });
    expect(await store.beginAuto(aPayment({ kind: 'auto' }), await topUp())).toBe('changed');
  });

  it('does not begin on what was read before another one began and ended', async () => {
    const read = await topUp();
    await store.settle(await begin());
    await createWalletStore(table).adjust(account, usd(-40), 'spent');
    const again = await topUp();
    await store.settle(await begin());
    await createWalletStore(table).adjust(account, usd(-40), 'spent');
    for (const stale of [read, again])
      expect(await store.beginAuto(aPayment({ kind: 'auto' }), stale)).toBe('changed');
  });

  it('does not begin while the account has enough, or the top-up is off or paused', async () => {
    await createWalletStore(table).topUp(account, usd(10), 'just enough');
    expect(await store.beginAuto(aPayment({ kind: 'auto' }), await topUp())).toBe('enough');
    await createWalletStore(table).topUp(account, usd(1), 'more than enough');
    expect(await store.beginAuto(aPayment({ kind: 'auto' }), await topUp())).toBe('enough');
    await createWalletStore(table).adjust(account, usd(-11), 'low again');
    const on = await topUp();
    await topUps.choose(on, { ...chosen, isOn: false });
    expect(await store.beginAuto(aPayment({ kind: 'auto' }), on)).toBe('changed');
    expect(await store.beginAuto(aPayment({ kind: 'auto' }), await topUp())).toBe('changed');
    const off = await topUp();
    await topUps.choose(off, chosen);
    const payment = await begin();
    await store.fail(payment.id, { state: 'failed', pause: 'declined' });
    expect(await store.beginAuto(aPayment({ kind: 'auto' }), await topUp())).toBe('changed');
  });

  it('takes at most the cap of a month, by the month of its begin', async () => {
    for (const spent of [10, 50]) {
      const payment = await begin();
      expect(await store.settle(payment)).toBe('credited');
      await createWalletStore(table).adjust(account, usd(-40), `spent ${spent}`);
    }
    expect(await store.beginAuto(aPayment({ kind: 'auto' }), await topUp())).toBe('monthly_cap');
    const next = aPayment({ kind: 'auto', month: '2026_12' });
    expect(await store.beginAuto(next, await topUp())).toBe('begun');
  });

  it('holds to a cap that was lowered, from the next begin on', async () => {
    const read = await topUp();
    await topUps.choose(read, { ...chosen, monthlyCapMicros: usd(40) });
    expect(await store.beginAuto(aPayment({ kind: 'auto' }), read)).toBe('changed');
    await store.settle(await begin());
    await createWalletStore(table).adjust(account, usd(-40), 'spent');
    expect(await store.beginAuto(aPayment({ kind: 'auto' }), await topUp())).toBe('monthly_cap');
  });

  it('gives its reservation back after a refusal, and keeps it while nobody knows', async () => {
    const declined = await begin();
    await store.fail(declined.id, { state: 'failed', pause: 'declined' });
    expect(await topUp()).toMatchObject({ reservedMicros: { [month]: 0 }, paused: 'declined' });
    expect((await topUp()).open).toBeUndefined();
    await topUps.resume(await topUp());
    const unknown = await begin();
    await store.fail(unknown.id, { state: 'unknown', pause: 'unknown' });
    expect(await topUp()).toMatchObject({ reservedMicros: { [month]: usd(40) }, paused: 'unknown' });
    expect(await store.fail(unknown.id, { state: 'failed' })).toBe(false);
    // Stripe took both after all: the first counts again, and the second counts once.
    expect(await store.settle(unknown)).toBe('credited');
    expect(await store.settle(declined)).toBe('credited');
    expect((await topUp()).reservedMicros).toEqual({ [month]: usd(80) });
    expect(await available()).toBe(usd(90));
  });

  it('stays paused by a dispute when it fails afterwards, so that only the operator ends the pause', async () => {
    const open = await begin();
    await topUps.pause(await topUp(), 'dispute');
    expect(await store.fail(open.id, { state: 'failed', pause: 'declined' })).toBe(true);
    expect(await topUp()).toMatchObject({ reservedMicros: { [month]: 0 }, paused: 'dispute' });
    expect((await topUp()).open).toBeUndefined();
  });

  it('stops the top-up when it is held, until the operator has checked it', async () => {
    const payment = await begin();
    expect(await store.hold(payment)).toBe(true);
    expect(await store.hold(payment)).toBe(false);
    expect(await topUp()).toMatchObject({ paused: 'operator', reservedMicros: { [month]: usd(40) } });
    expect((await topUp()).open).toBeUndefined();
    expect(await store.settle(payment)).toBe('credited');
    expect((await topUp()).reservedMicros).toEqual({ [month]: usd(40) });
  });

  it('leaves another open payment alone when an old one is taken late', async () => {
    const old = await begin();
    await store.fail(old.id, { state: 'failed' });
    const open = await begin();
    expect(await store.settle(old)).toBe('credited');
    expect((await topUp()).open).toBe(open.id);
    expect(await store.settle(open)).toBe('credited');
    expect(await getItem(table, autoTopUpKey(account))).not.toHaveProperty('open');
  });
});

describe('What goes back', () => {
  const paid = async (): Promise<StripePayment> => {
    const payment = aPayment();
    await store.beginCheckout(payment);
    await store.settle(payment);
    return stored(payment);
  };

  it('is debited once for each version of the record, in halves and as a whole', async () => {
    const payment = await paid();
    const half = async () =>
      store.reverse(payment, usd(20), { reason: 'refund', disputedMicros: asMicros(0) });
    const outcomes = await Promise.all(crowd.map(half));
    expect(outcomes.filter(Boolean)).toHaveLength(1);
    expect(await available()).toBe(usd(30));
    expect(
      await store.reverse(await stored(payment), usd(40), { reason: 'refund', disputedMicros: asMicros(0) }),
    ).toBe(true);
    expect(await available()).toBe(usd(10));
    expect((await rows()).map(({ amountMicros }) => amountMicros)).toEqual([usd(40), usd(-20), usd(-20)]);
    expect(await differencesIn(table)).toEqual([]);
  });

  it('comes back after a dispute that was won, and takes the balance below zero before', async () => {
    await topUps.choose(noTopUp(account), chosen);
    const payment = await paid();
    await createWalletStore(table).adjust(account, usd(-45), 'spent');
    await store.reverse(payment, usd(40), { reason: 'dispute', disputedMicros: usd(40) });
    expect(await available()).toBe(usd(-35));
    expect((await topUp()).paused).toBe('dispute');
    await store.reverse(await stored(payment), asMicros(0), {
      reason: 'dispute_won',
      disputedMicros: asMicros(0),
    });
    expect(await available()).toBe(usd(5));
    expect((await rows()).map(({ reason }) => reason)).toEqual([undefined, 'dispute', 'dispute_won']);
  });

  it('is never more than what was credited', async () => {
    const payment = await paid();
    await expect(
      store.reverse(payment, usd(41), { reason: 'refund', disputedMicros: asMicros(0) }),
    ).rejects.toThrow('at most');
  });
});
