/** Facts about the marks of key.cap_reached: when a notice is sent, and where its mark is. */
import { expect } from 'vitest';
import { createAccountSettings } from '../../service/accounts/account-settings-store.ts';
import type { KeyCaps } from '../../service/accounts/account.ts';
import { userHash } from '../../service/accounts/end-user.ts';
import { createKeyStore } from '../../service/accounts/key-store.ts';
import { webhookGraceMillis } from '../../service/contract/limits.ts';
import { capKinds, capRules } from '../../service/accounts/cap-kinds.ts';
import { keys } from '../../service/aws/dynamodb/table.ts';
import {
  checkThresholds,
  subjectOf,
  type ThresholdServices,
} from '../../service/notices/check-thresholds.ts';
import { createMonthSpent } from '../../service/notices/spend-reads.ts';
import { createNoticeMarks } from '../../service/notices/notice-store.ts';
import type { ThresholdAlert, NoticeRecord, RefusedFor } from '../../service/notices/notice.ts';
import type { KeyId, NoticeId } from '../../service/values/ids.ts';
import type { Micros } from '../../service/values/money.ts';
import { monthOf } from '../../service/values/time.ts';
import { accountId, anApiKey, keyId, now } from '../fixtures/records.ts';
import { cents, type Facts, idOf, keyOf, orderAt, type Stores } from './facts.ts';

const dayMillis = 86_400_000;
const user = 'customer 7';
const url = 'https://hooks.test/notices';

/** An engine remembers the token of a transaction, so notices of two tables share no id. */
let made = 0;
const bytes = (count: number): Uint8Array => {
  made += 1;
  return Uint8Array.from({ length: count }, (_, index) => (index < 8 ? (made >> index) % 256 : made % 256));
};

async function prepare({ accounts }: Stores, caps: KeyCaps): Promise<void> {
  await accounts.change(accountId, { noticeUrl: url });
  await accounts.changeKey(accountId, keyId, caps);
}

/** Charges 0.04 USD at this time. */
async function chargeAt(stores: Stores, number: number, at = now, forUser = user): Promise<void> {
  const order = await orderAt(stores, number, at, forUser);
  expect(await stores.charges.charge(order)).toEqual({ kind: 'charged' });
}

/** @param starts the executions that the check starts */
const servicesAt = ({ table }: Stores, at: number, starts?: ThresholdServices['noticeExecutions']) => ({
  clock: { ...table.clock, now: () => at },
  randomBytes: bytes,
  notices: createNoticeMarks(table),
  monthSpent: createMonthSpent(table),
  ...(starts && { noticeExecutions: starts }),
});

const keyPart = (notice: NoticeRecord): Record<string, unknown> =>
  (JSON.parse(notice.webhook.body ?? '') as { key: Record<string, unknown> }).key;

/** Checks thresholds after a creation, and returns what the notices say of the key. */
async function checkAfter(stores: Stores, number: number, at = now): Promise<Record<string, unknown>[]> {
  const creation = await stores.creations.read(idOf(number));
  if (!creation) throw new Error('no such creation');
  return (await checkThresholds(subjectOf(creation), servicesAt(stores, at))).map(keyPart);
}

/** Checks thresholds after a request of this cost that a cap refused. */
async function checkAfterRefusal(
  stores: Stores,
  cap: Extract<RefusedFor, { kind: 'cap' }>['cap'],
  costMicros: Micros,
  at = now,
): Promise<Record<string, unknown>[]> {
  const periods = Object.fromEntries(capKinds.map((kind) => [kind, capRules[kind].periodAt(at)]));
  const refused = { kind: 'cap', cap, costMicros } as const;
  const place = { accountId, keyId, periods, user, refused };
  return (await checkThresholds(place, servicesAt(stores, at))).map(keyPart);
}

let notices = 0;
/** Sends the notice of a check that read the key some time before. */
async function notifyStale(stores: Stores, crossing: Partial<ThresholdAlert>): Promise<boolean> {
  notices += 1;
  const id = `ntc_019aa5a0-1000-7000-8000-${notices.toString(16).padStart(12, '0')}` as NoticeId;
  const notice = {
    id,
    accountId,
    type: 'key.cap_reached',
    createdAt: new Date(now).toISOString(),
    webhook: { url, status: 'pending', attempts: 0, nextAt: now, body: '{}' },
    executions: 1,
    recoveries: 0,
  } as const;
  return createNoticeMarks(stores.table).store(crossing as ThresholdAlert, notice);
}

const marksIn = async (stores: Stores): Promise<string[]> =>
  Object.keys((await keyOf(stores)).told ?? {}).sort();

const counter = keys.userSpend(accountId, keyId, '2026_11', userHash(user));

async function setBudget({ table }: Stores, micros: Micros): Promise<void> {
  const settings = createAccountSettings(table);
  const account = await settings.read(accountId);
  expect(account && (await settings.changeBudget(account, micros))).toBe(true);
}

/** Checks thresholds after a creation of this month, and returns what the notices say of the budget. */
async function budgetAt(stores: Stores, at = now): Promise<Record<string, unknown>[]> {
  const place = { accountId, periods: { monthly: monthOf(at) } };
  const sent = await checkThresholds(place, servicesAt(stores, at));
  return sent.map(
    ({ webhook }) => (JSON.parse(webhook.body ?? '') as { budget: Record<string, unknown> }).budget,
  );
}

export const noticeFacts: Facts = {
  'The reconciler waits for the execution of a notice, and for nothing where none is started': async (
    stores,
  ) => {
    await stores.accounts.change(accountId, { noticeUrl: url });
    await chargeAt(stores, 1);
    const place = { accountId, periods: { monthly: monthOf(now) } };
    const starts = { start: () => Promise.resolve('started' as const) };
    await setBudget(stores, cents(4));
    const [started] = await checkThresholds(place, servicesAt(stores, now, starts));
    await setBudget(stores, cents(3));
    const [left] = await checkThresholds(place, servicesAt(stores, now));
    expect([started?.dueAt, left?.dueAt]).toEqual([now + webhookGraceMillis, now]);
  },
  'A budget is notified once for each level, month and amount, by the spend of all keys': async (stores) => {
    await stores.accounts.change(accountId, { noticeUrl: url });
    const other = anApiKey({ id: 'Key002' as KeyId, spent: { '2026_11': cents(4) } });
    expect(await createKeyStore(stores.table).create(other)).toBe('created');
    await setBudget(stores, cents(10));
    expect(await budgetAt(stores)).toEqual([]);
    await chargeAt(stores, 1);
    expect(await budgetAt(stores)).toEqual([
      { month: '2026-11', level: 80, limit: 0.1, spent: 0.08, resets_at: '2026-12-01T00:00:00.000Z' },
    ]);
    expect(await budgetAt(stores)).toEqual([]);
    await chargeAt(stores, 2);
    const both = await Promise.all([budgetAt(stores), budgetAt(stores)]);
    expect(both.flat()).toMatchObject([{ level: 100, spent: 0.12 }]);
    await setBudget(stores, cents(13));
    expect(await budgetAt(stores)).toMatchObject([{ level: 80, limit: 0.13 }]);
    const december = Date.UTC(2026, 11, 1, 1);
    await chargeAt(stores, 3, december);
    expect(await budgetAt(stores, december)).toEqual([]);
    for (const number of [4, 5]) await chargeAt(stores, number, december);
    expect(await budgetAt(stores, december)).toMatchObject([{ month: '2026-12', level: 80, spent: 0.12 }]);
    await chargeAt(stores, 6);
    expect(await budgetAt(stores), 'a check of the month that is over').toEqual([]);
  },

  'A budget that was changed since the check, or notified by another check, is not notified': async (
    stores,
  ) => {
    await stores.accounts.change(accountId, { noticeUrl: url });
    await setBudget(stores, cents(4));
    const crossing = { type: 'budget.reached', month: '2026_11', spentMicros: cents(4) } as const;
    const at = (level: 80 | 100, budget = 4) => ({ ...crossing, level, budgetMicros: cents(budget) });
    expect(await notifyStale(stores, at(100, 5))).toBe(false);
    expect(await notifyStale(stores, at(80))).toBe(true);
    expect(await notifyStale(stores, at(80))).toBe(false);
    expect(await notifyStale(stores, at(100))).toBe(true);
    expect(await notifyStale(stores, at(80))).toBe(false);
    expect(await notifyStale(stores, { ...at(100), month: '2026_10' })).toBe(false);
  },

  'A daily cap is notified once for each level and day, with the day and the end of the day': async (
    stores,
  ) => {
    await prepare(stores, { dailyCapMicros: cents(9) });
    await chargeAt(stores, 1);
    expect(await checkAfter(stores, 1)).toEqual([]);
    await chargeAt(stores, 2);
    expect(await checkAfter(stores, 2)).toEqual([
      {
        id: keyId,
        name: 'server',
        cap: 'daily',
        period: '2026-11-21',
        level: 80,
        limit: 0.09,
        spent: 0.08,
        resets_at: '2026-11-22T00:00:00.000Z',
      },
    ]);
    expect(await checkAfter(stores, 2)).toEqual([]);
    expect(await checkAfterRefusal(stores, 'daily', cents(4))).toMatchObject([{ level: 100, spent: 0.08 }]);
    expect(await checkAfterRefusal(stores, 'daily', cents(4))).toEqual([]);
    const tomorrow = now + dayMillis;
    await chargeAt(stores, 3, tomorrow);
    await chargeAt(stores, 4, tomorrow);
    expect(await checkAfter(stores, 4, tomorrow)).toMatchObject([{ period: '2026-11-22', level: 80 }]);
  },

  'A charge removes the daily marks together with the days, and leaves the other marks': async (stores) => {
    await prepare(stores, { dailyCapMicros: cents(4), monthlyCapMicros: cents(4), totalCapMicros: cents(4) });
    await chargeAt(stores, 1);
    expect(await checkAfter(stores, 1)).toHaveLength(3);
    await stores.accounts.changeKey(accountId, keyId, { monthlyCapMicros: null, totalCapMicros: null });
    await chargeAt(stores, 2, now + 3 * dayMillis);
    await checkAfter(stores, 2, now + 3 * dayMillis);
    const lasting = ['monthly_2026_11', 'total_total'];
    expect(await marksIn(stores)).toEqual(['daily_2026_11_21', 'daily_2026_11_24', ...lasting]);
    await chargeAt(stores, 3, now + 4 * dayMillis);
    expect(await marksIn(stores)).toEqual(['daily_2026_11_24', ...lasting]);
    // A check that comes so late finds no spend of the day, and sends no second notice.
    expect(await checkAfter(stores, 1, now + 4 * dayMillis)).toEqual([]);
  },

  'A key whose daily cap refuses everything is never charged, and keeps the marks of four days': async (
    stores,
  ) => {
    await prepare(stores, { dailyCapMicros: cents(3) });
    for (let day = 0; day < 6; day += 1) {
      const at = now + day * dayMillis;
      expect(await checkAfterRefusal(stores, 'daily', cents(4), at)).toMatchObject([
        { level: 100, spent: 0 },
      ]);
      expect(await checkAfterRefusal(stores, 'daily', cents(4), at)).toEqual([]);
    }
    expect(await marksIn(stores)).toEqual([
      'daily_2026_11_23',
      'daily_2026_11_24',
      'daily_2026_11_25',
      'daily_2026_11_26',
    ]);
  },

  'A total cap is compared with all months, notified once for each level, and anew when it was raised':
    async (stores) => {
      const december = Date.UTC(2026, 11, 5);
      await prepare(stores, { totalCapMicros: cents(10) });
      await chargeAt(stores, 1);
      expect(await checkAfter(stores, 1)).toEqual([]);
      await chargeAt(stores, 2, december);
      expect(await checkAfter(stores, 2, december)).toMatchObject([
        { cap: 'total', period: 'total', level: 80, limit: 0.1, spent: 0.08, resets_at: null },
      ]);
      expect(await checkAfter(stores, 2, december)).toEqual([]);
      await stores.accounts.changeKey(accountId, keyId, { totalCapMicros: cents(12) });
      await chargeAt(stores, 3, december);
      expect(await checkAfter(stores, 3, december)).toMatchObject([{ level: 100, limit: 0.12, spent: 0.12 }]);
      expect(await marksIn(stores)).toEqual(['total_total']);
    },

  'A total that fell below its level since the check is not notified, whichever month was refunded': async (
    stores,
  ) => {
    const december = Date.UTC(2026, 11, 5);
    await prepare(stores, { totalCapMicros: cents(10) });
    for (const [number, at] of [
      [1, now],
      [2, december],
    ] as const)
      await chargeAt(stores, number, at);
    const apiKey = await keyOf(stores);
    const crossing = {
      type: 'key.cap_reached',
      apiKey,
      cap: 'total',
      period: 'total',
      level: 80,
      capMicros: cents(10),
      spentMicros: cents(8),
      leastMicros: cents(8),
    } as const;
    const giveBack = async (number: number): Promise<void> => {
      const creation = await stores.creations.read(idOf(number));
      const refund = { failure: 'GenerationFailed', announce: true, nowMillis: december } as const;
      await stores.charges.refund(creation as Parameters<Stores['charges']['refund']>[0], refund);
    };
    await giveBack(1);
    expect(await notifyStale(stores, crossing)).toBe(false);
    await chargeAt(stores, 3, now);
    await giveBack(2);
    expect(await notifyStale(stores, crossing)).toBe(false);
    await chargeAt(stores, 4, december);
    expect(await notifyStale(stores, crossing)).toBe(true);
    expect(await notifyStale(stores, crossing)).toBe(false);
  },

  'A total cap below every price is notified when it refuses the first request': async (stores) => {
    await prepare(stores, { totalCapMicros: cents(3) });
    expect(await checkAfterRefusal(stores, 'total', cents(4))).toMatchObject([{ level: 100, spent: 0 }]);
    expect(await checkAfterRefusal(stores, 'total', cents(4))).toEqual([]);
  },

  'The cap of a user is notified for each user alone, and its mark is in the counter of the user': async (
    stores,
  ) => {
    await prepare(stores, { perUserMonthlyCapMicros: cents(8) });
    await chargeAt(stores, 1);
    await chargeAt(stores, 2, now, 'somebody else');
    expect(await checkAfter(stores, 2)).toEqual([]);
    await chargeAt(stores, 3);
    expect(await checkAfter(stores, 3)).toEqual([
      {
        id: keyId,
        name: 'server',
        cap: 'user',
        user,
        period: '2026-11',
        level: 100,
        limit: 0.08,
        spent: 0.08,
        resets_at: '2026-12-01T00:00:00.000Z',
      },
    ]);
    expect(await checkAfter(stores, 3)).toEqual([]);
    expect(await checkAfterRefusal(stores, 'user', cents(4))).toEqual([]);
    expect(await stores.item(counter)).toMatchObject({
      spentMicros: cents(8),
      told: { level: 100, capMicros: cents(8) },
      expiresAtSeconds: Date.UTC(2027, 2, 3) / 1000,
    });
    expect(await marksIn(stores)).toEqual([]);
    await chargeAt(stores, 4, now, 'somebody else');
    expect(await checkAfter(stores, 4)).toMatchObject([{ user: 'somebody else', level: 100 }]);
    const question = { clientAddress: '203.0.113.7', rate: 'post', nowMillis: now } as const;
    const asked = { ...question, key: { accountId, keyId }, userHash: userHash(user) };
    expect((await stores.requests.read(asked)).userTold).toMatchObject({ level: 100 });
  },

  'A refused request of a user for whom nothing was charged makes a counter that expires': async (stores) => {
    await prepare(stores, { perUserMonthlyCapMicros: cents(3) });
    expect(await checkAfterRefusal(stores, 'user', cents(4))).toMatchObject([{ user, level: 100, spent: 0 }]);
    expect(await stores.item(counter)).toMatchObject({
      told: { level: 100 },
      expiresAtSeconds: Date.UTC(2027, 2, 3) / 1000,
    });
    expect(await checkAfterRefusal(stores, 'user', cents(4))).toEqual([]);
    await stores.accounts.changeKey(accountId, keyId, { perUserMonthlyCapMicros: cents(4) });
    await chargeAt(stores, 1);
    expect(await checkAfter(stores, 1)).toMatchObject([{ level: 100, limit: 0.04, spent: 0.04 }]);
  },

  'The cap of a user that was refunded since the check is not notified, and one of two checks notifies':
    async (stores) => {
      await prepare(stores, { perUserMonthlyCapMicros: cents(8) });
      await chargeAt(stores, 1);
      const crossing = {
        type: 'key.cap_reached',
        apiKey: anApiKey({ perUserMonthlyCapMicros: cents(8) }),
        user,
        cap: 'user',
        period: '2026_11',
        level: 100,
        capMicros: cents(8),
        spentMicros: cents(8),
        leastMicros: cents(8),
      } as const;
      expect(await notifyStale(stores, crossing)).toBe(false);
      await chargeAt(stores, 2);
      expect(await notifyStale(stores, crossing)).toBe(true);
      expect(await notifyStale(stores, crossing)).toBe(false);
      expect(await notifyStale(stores, { ...crossing, level: 80 })).toBe(false);
    },

  'A creation that was not counted for its user reads no counter': async (stores) => {
    await stores.accounts.change(accountId, { noticeUrl: url });
    await chargeAt(stores, 1);
    await stores.accounts.changeKey(accountId, keyId, { perUserMonthlyCapMicros: cents(3) });
    const creation = await stores.creations.read(idOf(1));
    expect(creation && subjectOf(creation).periods).toEqual({
      daily: '2026_11_21',
      monthly: '2026_11',
      total: 'total',
    });
    expect(await checkAfter(stores, 1)).toEqual([]);
  },
};
