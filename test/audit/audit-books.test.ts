import { describe, expect, it } from 'vitest';
import { noProgress } from '../../service/audit/audit-accounts.ts';
import { auditBooks, type AuditReport } from '../../service/audit/audit-books.ts';
import type { AuditLock, AuditRunStore } from '../../service/audit/audit-run-store.ts';
import type { AuditRun } from '../../service/audit/audit-run.ts';
import type { BooksReader } from '../../service/audit/books-reads.ts';
import type { StoredSums } from '../../service/audit/books.ts';
import type { CheckState } from '../../service/audit/check-account.ts';
import type { AuditServices } from '../../service/audit/open.ts';
import type { AccountId, KeyId } from '../../service/values/ids.ts';
import { asMicros } from '../../service/values/money.ts';
import { fakeClock, type FakeClock, fakeLog, type FakeLog, stub } from '../api/fakes.ts';
import { closingsInMemory } from '../fixtures/closings.ts';
import { now } from '../fixtures/records.ts';

const accounts = Array.from(
  { length: 40 },
  (_, index) => `Acc0unt${String(index).padStart(3, '0')}` as AccountId,
);
const [first, second] = accounts as [AccountId, AccountId];
const ample = (): number => 900_000;

/** The sums of an account whose ledger says 5 USD. */
const sumsWith = (available: number): StoredSums => ({
  availableMicros: asMicros(available),
  creditLineMicros: asMicros(0),
  inFlight: 0,
  keys: [],
});

/** Accounts with one row each. Their balances are as given, or right. */
function booksOf(
  ids: readonly AccountId[],
  balances: ReadonlyMap<AccountId, readonly number[]> = new Map(),
): BooksReader & { readonly read: AccountId[] } {
  const read: AccountId[] = [];
  const left = new Map([...balances].map(([id, values]) => [id, [...values]]));
  const at = '2026-11-01T00:00:00.000Z';
  const row = { kind: 'top_up', amountMicros: asMicros(5_000_000), at } as const;
  return {
    read,
    async *accounts(after) {
      yield await Promise.resolve(
        ids.map((id) => ({ id, place: id })).filter(({ place }) => after === undefined || place > after),
      );
    },
    async *ledger(account, from) {
      if (from === undefined) read.push(account);
      yield await Promise.resolve([{ place: `LEDGER#${at}`, row }]);
    },
    async *listed() {
      yield await Promise.resolve([]);
    },
    creations: () => Promise.resolve([]),
    sums: (account) => {
      const values = left.get(account) ?? [5_000_000];
      return Promise.resolve(sumsWith((values.length > 1 ? values.shift() : values[0]) ?? 0));
    },
    userCounters: () => Promise.resolve([]),
    inFlight: () => Promise.resolve(0),
    placeOf: (millis) => `LEDGER#${new Date(millis).toISOString()}`,
  };
}

/** Keeps the run as the table does. */
function runsInMemory(): AuditRunStore & { run?: AuditRun; lock?: AuditLock } {
  const states = new Map<AccountId, CheckState>();
  const store: AuditRunStore & { run?: AuditRun; lock?: AuditLock } = {
    take: (day, lock, nowMillis) => {
      const { run } = store;
      if ((store.lock?.untilMillis ?? 0) > nowMillis) return Promise.resolve('none');
      if (run?.finishedAt !== undefined && run.day >= day) return Promise.resolve('none');
      const begun: AuditRun = { day, startedAt: 'now', progress: noProgress, interrupted: [], isWhole: true };
      const taken = run && run.finishedAt === undefined ? run : begun;
      Object.assign(store, { run: taken, lock });
      return Promise.resolve(taken);
    },
    save: (run, lock) => {
      if (store.lock?.holder !== lock.holder) return Promise.resolve(false);
      Object.assign(store, { run, lock });
      return Promise.resolve(true);
    },
    keep: (account, state) => Promise.resolve(states.set(account, state).size > 0),
    read: (account) => Promise.resolve(states.get(account)),
  };
  return store;
}

interface Ran {
  readonly report: AuditReport;
  readonly log: FakeLog;
  readonly clock: FakeClock;
}

async function run(
  books: BooksReader,
  { runs = runsInMemory(), timeLeft = ample, clock = fakeClock(), holder = 'one' } = {},
): Promise<Ran> {
  const log = fakeLog();
  const closings = closingsInMemory('compared');
  const report = await auditBooks(
    stub<AuditServices>({ log, clock, books, closings, runs }),
    holder,
    timeLeft,
  );
  return { report, log, clock };
}

describe('the daily audit', () => {
  it('The report counts the accounts and finds no difference', async () => {
    const { report, log } = await run(booksOf([first, second]));
    const counts = { accounts: 2, creations: 0, rows: 2, differences: 0, unsettled: 0 };
    expect(report).toEqual({ ...counts, isFinished: true });
    expect(log.entries).toMatchObject([
      ['info books_audit_part', { ...counts, isFinished: true }],
      ['info books_audited', counts],
    ]);
  });

  it('An account that differs is compared again, and one comparison without a difference clears the account', async () => {
    const balances = new Map([[first, [4_000_000, 4_500_000, 5_000_000]]]);
    const { report, log, clock } = await run(booksOf([first, second], balances));
    expect(report).toMatchObject({ differences: 0 });
    expect(clock.sleeps).toEqual([15_000, 15_000]);
    expect(log.lines).toEqual(['info books_audit_part', 'info books_audited']);
  });

  it('An account whose difference lasts is counted twice, and raises an alarm with the difference', async () => {
    const books = booksOf([first], new Map([[first, [4_000_000]]]));
    const { report, log, clock } = await run(books);
    expect(books.read).toEqual([first, first]);
    expect(clock.sleeps).toHaveLength(6);
    expect(report).toMatchObject({ differences: 1 });
    expect(log.lines).toEqual(['alarm books_out_of_balance', 'info books_audit_part', 'info books_audited']);
    expect(log.text()).toContain(
      JSON.stringify({ account: first, what: 'available', expected: 5_000_000, found: 4_000_000 }),
    );
  });

  it('Each account that differs is logged with its number of differences and the first twenty of them', async () => {
    const keys = Array.from({ length: 21 }, (_, index) => ({
      id: `Key${index}` as KeyId,
      spent: { '2026_11': asMicros(1) },
      spentByDay: {},
    }));
    const books = booksOf([first, second], new Map([[second, [4_000_000]]]));
    const sums = books.sums.bind(books);
    books.sums = async (account) =>
      account === first ? Promise.resolve({ ...sumsWith(5_000_000), keys }) : sums(account);
    const { report, log } = await run(books);
    expect(report).toMatchObject({ accounts: 2, differences: 22 });
    expect(log.entries).toMatchObject([
      ['alarm books_out_of_balance', { accountId: first, count: 21, differences: { length: 20 } }],
      ['alarm books_out_of_balance', { accountId: second, count: 1 }],
      ['info books_audit_part', {}],
      ['info books_audited', { differences: 22 }],
    ]);
  });
});

describe('a run of the daily audit that takes several invocations', () => {
  /** The time is up after so many questions. */
  const upAfter = (questions: number): (() => number) => {
    let asked = 0;
    return () => {
      asked += 1;
      return asked > questions ? 0 : 900_000;
    };
  };

  it.each([2, 5, 17, 25, 33, 50])(
    'Every account is audited when each invocation is out of time after %i questions',
    async (questions) => {
      const runs = runsInMemory();
      const balances = new Map(accounts.map((id) => [id, [4_000_000]]));
      const books = booksOf(accounts, balances);
      const told = new Set<string>();
      let finished = 0;
      for (let part = 0; finished === 0; part += 1) {
        const { log } = await run(books, { runs, timeLeft: upAfter(questions + part), holder: `${part}` });
        for (const [line, fields] of log.entries) {
          if (line === 'alarm books_out_of_balance') told.add((fields as { accountId: string }).accountId);
          if (line === 'info books_audited') finished += 1;
        }
      }
      expect([...told].sort()).toEqual(accounts);
      expect(runs.run?.progress).toMatchObject({ accounts: 40, rows: 40, differences: 40 });
    },
  );

  it('A run that was ended without a word goes on behind the progress that it stored', async () => {
    const runs = runsInMemory();
    const clock = fakeClock();
    const books = booksOf(accounts);
    const sums = books.sums.bind(books);
    let asked = 0;
    books.sums = async (account) => {
      asked += 1;
      clock.set(clock.now() + 1_000);
      if (asked === 30) throw new Error('killed');
      return sums(account);
    };
    await expect(run(books, { runs, clock })).rejects.toThrow('killed');
    const { after } = runs.run?.progress ?? {};
    expect(accounts.indexOf(after as AccountId)).toBeGreaterThan(5);
    clock.set(clock.now() + 1_000_000);
    books.read.length = 0;
    const { report } = await run(books, { runs, clock, holder: 'two' });
    expect(books.read[0]).toBe(accounts[accounts.indexOf(after as AccountId) + 1]);
    expect(report).toMatchObject({ accounts: 40, rows: 40, isFinished: true });
  });

  it('Nothing is read while another invocation works, or when the run of the day is finished', async () => {
    const runs = runsInMemory();
    await runs.take('2026-11-21', { holder: 'other', untilMillis: now + 1_000 }, now - 1);
    const books = booksOf([first]);
    expect((await run(books, { runs })).report).toEqual({ outcome: 'idle' });
    const clock = fakeClock(now + 2_000);
    expect((await run(books, { runs, clock })).report).toMatchObject({ isFinished: true });
    expect((await run(books, { runs, clock })).report).toEqual({ outcome: 'idle' });
    expect(books.read).toEqual([first]);
    clock.set(now + 86_400_000);
    expect((await run(books, { runs, clock })).report).toMatchObject({ isFinished: true });
  });

  it('An invocation whose run was taken by another one stores nothing and says so', async () => {
    const runs = runsInMemory();
    const books = booksOf([first]);
    const sums = books.sums.bind(books);
    books.sums = async (account) => {
      runs.lock = { holder: 'two', untilMillis: now + 10_000 };
      return sums(account);
    };
    const { report, log } = await run(books, { runs });
    expect(report).toEqual({ outcome: 'lost' });
    expect(log.lines).toEqual(['info books_audit_lost']);
    expect(runs.run?.progress.accounts).toBe(0);
  });
});
