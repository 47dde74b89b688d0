import { describe, expect, it } from 'vitest';
import type { Account, ApiKey } from '../../service/accounts/account.ts';
import { expiredMarks } from '../../service/accounts/cap-kinds.ts';
import {
  type ThresholdAlert,
  unsentAlerts,
  type Checked,
  newNotice,
  type RefusedFor,
  outdatedMarks,
} from '../../service/notices/notice.ts';
import type { NoticeId } from '../../service/values/ids.ts';
import { asMicros } from '../../service/values/money.ts';
import { anAccount, anApiKey, now, seededBytes } from '../fixtures/records.ts';

const id = 'ntc_019aa5a0-1000-7000-8000-00000000000a' as NoticeId;
const cents = (count: number): ReturnType<typeof asMicros> => asMicros(count * 10_000);

/** The types of the notices of an account, with the levels of caps. */
function found(
  account: Partial<Account>,
  key?: Partial<ApiKey>,
  refused?: RefusedFor,
  more: Pick<Checked, 'user' | 'monthSpentMicros'> & Partial<Pick<Checked, 'periods'>> = {},
): (string | number)[] {
  const looked = {
    account: anAccount(account),
    ...(key && { apiKey: anApiKey(key) }),
    periods: { monthly: '2026_11' },
    ...(refused && { refused }),
    ...more,
  };
  return unsentAlerts(looked).map((crossing) => ('level' in crossing ? crossing.level : crossing.type));
}

describe('the thresholds of a wallet', () => {
  it.each<[string, Partial<Account>, string[]]>([
    ['above its threshold', { availableMicros: cents(11), lowBalanceMicros: cents(10) }, []],
    ['at its threshold', { availableMicros: cents(10), lowBalanceMicros: cents(10) }, []],
    [
      'below its threshold',
      { availableMicros: asMicros(99_999), lowBalanceMicros: cents(10) },
      ['wallet.low'],
    ],
    ['below and told', { availableMicros: cents(9), lowBalanceMicros: cents(10), toldLow: { id } }, []],
    ['without a threshold', { availableMicros: cents(1) }, []],
    ['with nothing left', { availableMicros: cents(0) }, ['wallet.empty']],
    ['below zero', { availableMicros: cents(-1) }, ['wallet.empty']],
    ['with nothing left, and told', { availableMicros: cents(0), toldEmpty: { id } }, []],
    [
      'with nothing left below its threshold',
      { availableMicros: cents(0), lowBalanceMicros: cents(10) },
      ['wallet.low', 'wallet.empty'],
    ],
    ['with nine failed attempts', { webhookFailures: 9 }, []],
    ['with ten failed attempts', { webhookFailures: 10 }, ['webhook.failing']],
    ['with ten failed attempts, and told', { webhookFailures: 12, toldFailing: { id } }, []],
  ])('A wallet %s crosses what it should', (_state, account, expected) => {
    expect(found(account)).toEqual(expected);
  });

  it('A refused request makes a wallet empty that does not cover its cost', () => {
    const refused = { kind: 'balance', costMicros: cents(4) } as const;
    expect(found({ availableMicros: cents(3) }, undefined, refused)).toEqual(['wallet.empty']);
    expect(found({ availableMicros: cents(4) }, undefined, refused)).toEqual([]);
  });
});

describe('the levels of a cap', () => {
  const spent = (count: number): Partial<ApiKey> => ({
    monthlyCapMicros: cents(10),
    spent: { '2026_11': cents(count) },
  });

  it.each([
    [7, []],
    [8, [80]],
    [9, [80]],
    [10, [100]],
  ])('A cap of 10 cents with %d spent reaches its level', (count, expected) => {
    expect(found({}, spent(count))).toEqual(expected);
  });

  it('The spend of another month does not count', () => {
    expect(found({}, { monthlyCapMicros: cents(10), spent: { '2026_10': cents(10) } })).toEqual([]);
  });

  it('A level is notified once, and a higher level or another cap is notified again', () => {
    const told = (level: number, capMicros = cents(10)): Partial<ApiKey> => ({
      told: { monthly_2026_11: { id, level, capMicros } },
    });
    expect(found({}, { ...spent(9), ...told(80) })).toEqual([]);
    expect(found({}, { ...spent(10), ...told(80) })).toEqual([100]);
    expect(found({}, { ...spent(9), ...told(100) })).toEqual([]);
    expect(found({}, { ...spent(9), ...told(100, cents(20)) })).toEqual([80]);
  });

  it('A request that the cap refuses reaches 100 percent, and only while the cap does not cover it', () => {
    const refused = { kind: 'cap', cap: 'monthly', costMicros: cents(4) } as const;
    expect(found({}, spent(7), refused)).toEqual([100]);
    expect(found({}, spent(6), refused)).toEqual([]);
    expect(found({}, { monthlyCapMicros: cents(1), spent: {} }, refused)).toEqual([100]);
  });

  it('A level that is no whole number of micro-dollars is reached above its share', () => {
    const key = { monthlyCapMicros: asMicros(3), spent: { '2026_11': asMicros(2) } };
    expect(found({}, key)).toEqual([]);
    expect(found({}, { ...key, spent: { '2026_11': asMicros(3) } })).toEqual([100]);
  });
});

describe('the levels of the other caps', () => {
  const periods = { daily: '2026_11_21', monthly: '2026_11', total: 'total', user: '2026_11' };
  const told = { id, level: 80, capMicros: cents(10) };

  it('A daily cap is compared with its day alone', () => {
    const key = { dailyCapMicros: cents(10), spentByDay: { '2026_11_20': cents(9), '2026_11_21': cents(8) } };
    expect(found({}, key, undefined, { periods })).toEqual([80]);
    const other = { ...periods, daily: '2026_11_22' };
    expect(found({}, key, undefined, { periods: other })).toEqual([]);
    const marked = { ...key, told: { daily_2026_11_21: told } };
    expect(found({}, marked, undefined, { periods })).toEqual([]);
  });

  it('A total cap is compared with the sum of all months, and never begins anew', () => {
    const key = { totalCapMicros: cents(10), spent: { '2026_09': cents(7), '2026_11': cents(1) } };
    expect(found({}, key, undefined, { periods })).toEqual([80]);
    expect(found({}, { ...key, told: { total_total: told } }, undefined, { periods })).toEqual([]);
    const raised = { ...key, totalCapMicros: cents(8), told: { total_total: told } };
    expect(found({}, raised, undefined, { periods })).toEqual([100]);
  });

  it('The cap of a user is compared with the spend of the user, and only when that spend was read', () => {
    const key = { perUserMonthlyCapMicros: cents(10), spent: { '2026_11': cents(99) } };
    expect(found({}, key, undefined, { periods })).toEqual([]);
    const user = { user: 'customer 7', spentMicros: cents(8) };
    expect(found({}, key, undefined, { periods, user })).toEqual([80]);
    expect(found({}, key, undefined, { periods, user: { ...user, told } })).toEqual([]);
  });

  it('A request that one cap refuses reaches 100 percent of that cap alone', () => {
    const key = { dailyCapMicros: cents(2), monthlyCapMicros: cents(2), totalCapMicros: cents(2) };
    for (const cap of ['daily', 'monthly', 'total'] as const) {
      const [crossing, ...others] = unsentAlerts({
        account: anAccount(),
        apiKey: anApiKey(key),
        periods,
        refused: { kind: 'cap', cap, costMicros: cents(4) },
      });
      expect(crossing).toMatchObject({ cap, level: 100 });
      expect(others).toEqual([]);
    }
  });

  it('Several caps that one creation reaches have a notice each', () => {
    const key = {
      dailyCapMicros: cents(4),
      monthlyCapMicros: cents(5),
      spentByDay: { '2026_11_21': cents(4) },
      spent: { '2026_11': cents(4) },
    };
    expect(found({}, key, undefined, { periods })).toEqual([100, 80]);
  });

  it('Only daily marks of more than three days ago are over', () => {
    const marks = {
      daily_2026_11_17: told,
      daily_2026_11_18: told,
      monthly_2025_01: told,
      total_total: told,
    };
    expect(expiredMarks({ told: marks }, '2026_11_21')).toEqual(['daily_2026_11_17']);
    expect(expiredMarks({}, '2026_11_21')).toEqual([]);
  });
});

describe('the levels of a budget', () => {
  const told = (level: number, budget = 10, month = '2026_11'): Partial<Account> => ({
    toldBudget: { id, month, level, budgetMicros: cents(budget) },
  });

  it.each<[string, number, Partial<Account>, number[]]>([
    ['79 %', 79, {}, []],
    ['80 %', 80, {}, [80]],
    ['100 %', 100, {}, [100]],
    ['90 %, and told at 80 %', 90, told(80), []],
    ['100 %, and told at 80 %', 100, told(80), [100]],
    ['130 %, and told at 100 %', 130, told(100), []],
    ['90 %, and another budget was told', 90, told(100, 20), [80]],
    ['90 %, and the month before was told', 90, told(100, 10, '2026_10'), [80]],
    ['90 %, and a later month was told', 90, told(80, 20, '2026_12'), []],
  ])('A budget that is spent to %s crosses what it should', (_state, percent, mark, expected) => {
    const account = { monthlyBudgetMicros: cents(10), ...mark };
    const more = { monthSpentMicros: asMicros(percent * 1_000) };
    expect(found(account, undefined, undefined, more)).toEqual(expected);
  });

  it('A check that read no spend, or an account without a budget, sends no notice', () => {
    expect(found({ monthlyBudgetMicros: cents(10) })).toEqual([]);
    expect(found({}, undefined, undefined, { monthSpentMicros: cents(99) })).toEqual([]);
  });
});

describe('a mark', () => {
  it.each<[string, Partial<Account>, string[]]>([
    [
      'at the threshold',
      { availableMicros: cents(10), lowBalanceMicros: cents(10), toldLow: { id } },
      ['toldLow'],
    ],
    ['below it', { availableMicros: cents(9), lowBalanceMicros: cents(10), toldLow: { id } }, []],
    ['without a threshold', { availableMicros: cents(0), toldLow: { id } }, ['toldLow']],
    [
      'with what was needed',
      { availableMicros: cents(4), toldEmpty: { id, belowMicros: cents(4) } },
      ['toldEmpty'],
    ],
    ['with less', { availableMicros: cents(3), toldEmpty: { id, belowMicros: cents(4) } }, []],
  ])('The mark of a wallet %s is taken back when it should be', (_state, account, expected) => {
    expect(outdatedMarks(anAccount(account))).toEqual(expected);
  });
});

describe('the body of a notice', () => {
  const bodyOf = (crossing: ThresholdAlert): Record<string, unknown> => {
    const account = anAccount({ availableMicros: cents(3), lowBalanceMicros: cents(500) });
    const made = { nowMillis: now, dueAt: now + 1, randomBytes: seededBytes(16) };
    const { webhook } = newNotice({ ...account, noticeUrl: 'https://hooks.test/n' }, crossing, made);
    return JSON.parse(webhook.body ?? '') as Record<string, unknown>;
  };
  const account = { available: 0.03, low_balance: 5, currency: 'USD' };

  it('Each notice has its type, its id, its time and the wallet, and what belongs to its type', () => {
    expect(bodyOf({ type: 'wallet.low', thresholdMicros: cents(500) })).toEqual({
      notice: 'wallet.low',
      id: expect.stringMatching(/^ntc_[0-9a-f]{8}-[0-9a-f]{4}-7/) as string,
      created_at: new Date(now).toISOString(),
      account,
    });
    expect(bodyOf({ type: 'wallet.empty', neededMicros: cents(4) })).toMatchObject({
      account: { ...account, required: 0.04 },
    });
    const budget = { month: '2026_11', level: 80, budgetMicros: cents(10), spentMicros: cents(9) } as const;
    expect(bodyOf({ type: 'budget.reached', ...budget })).toMatchObject({
      account,
      budget: {
        month: '2026-11',
        level: 80,
        limit: 0.1,
        spent: 0.09,
        resets_at: '2026-12-01T00:00:00.000Z',
      },
    });
    expect(bodyOf({ type: 'webhook.failing', failures: 11 })).toMatchObject({
      account,
      webhooks: { failed_attempts: 11 },
    });
  });
});
