import { describe, expect, it } from 'vitest';
import type { AccountId, KeyId } from '../../core/ids.ts';
import type { AccountBooks } from '../../core/ledger.ts';
import { asMicros } from '../../core/money.ts';
import { auditBooks, type AuditReport } from '../../functions/schedule/audit-books.ts';
import type { AuditServices } from '../../functions/services/audit.ts';
import { accountId, creationId } from '../fixtures/records.ts';
import { fakeClock, fakeLog, stub, type FakeClock, type FakeLog } from './fakes.ts';
import { creationIdIn } from '../fixtures/values.ts';

const other = 'Acc0unt002' as AccountId;

/** The books of an account whose ledger says 5 USD. */
function booksWith(available: number, id = accountId): AccountBooks {
  const at = '2026-11-01T00:00:00.000Z';
  return {
    accountId: id,
    availableMicros: asMicros(available),
    creditLineMicros: asMicros(0),
    inFlight: 0,
    creations: [],
    keys: [],
    userCounters: [],
    readAt: 0,
    ledger: [{ kind: 'top_up', amountMicros: asMicros(5_000_000), at, reference: 'invoice' }],
  };
}

interface Ran {
  readonly report: AuditReport;
  readonly log: FakeLog;
  readonly clock: FakeClock;
  /** The account of each read after the first. */
  readonly looks: readonly (AccountId | undefined)[];
}

async function run(...looks: AccountBooks[][]): Promise<Ran> {
  const [log, clock] = [fakeLog(), fakeClock()];
  const left = [...looks];
  const asked: (AccountId | undefined)[] = [];
  const services = stub<AuditServices>({
    log,
    clock,
    books: async (only) => {
      asked.push(only);
      const books = left.length > 1 ? left.shift() : left[0];
      return Promise.resolve(
        (books ?? []).filter((account) => only === undefined || account.accountId === only),
      );
    },
  });
  return { report: await auditBooks(services), log, clock, looks: asked.slice(1) };
}

describe('the daily audit', () => {
  it('The report counts the accounts and finds no difference', async () => {
    const { report, log } = await run([booksWith(5_000_000), booksWith(5_000_000, other)]);
    expect(report).toEqual({ accounts: 2, creations: 0, differences: 0 });
    expect(log.lines).toEqual(['info books_audited']);
  });

  it('An account that differs is read again, and one clean read clears it', async () => {
    const { report, log, looks, clock } = await run(
      [booksWith(4_000_000), booksWith(5_000_000, other)],
      [booksWith(4_500_000)],
      [booksWith(5_000_000)],
    );
    expect(report.differences).toBe(0);
    expect(looks).toEqual([accountId, accountId]);
    expect(clock.sleeps).toEqual([15_000, 15_000]);
    expect(log.lines).toEqual(['info books_audited']);
  });

  it('An account whose difference lasts raises an alarm with the account and the difference', async () => {
    const { report, log, looks } = await run([booksWith(4_000_000)]);
    expect(looks).toHaveLength(3);
    expect(report.differences).toBe(1);
    expect(log.lines).toEqual(['alarm books_out_of_balance', 'info books_audited']);
    expect(log.text()).toContain(
      JSON.stringify({ account: accountId, what: 'available', expected: 5_000_000, found: 4_000_000 }),
    );
  });

  it('The report counts the creations of all accounts', async () => {
    const charged = (index: number): AccountBooks['creations'][number] => ({
      id: creationIdIn(creationId.replace(/.$/, String(index))),
      status: 'completed',
      costMicros: asMicros(0),
      refundedMicros: asMicros(0),
    });
    const books = [booksWith(5_000_000), { ...booksWith(5_000_000, other), creations: [0, 1].map(charged) }];
    const more = { ...booksWith(5_000_000), creations: [2, 3, 4].map(charged) };
    expect((await run([...books, more], [])).report).toMatchObject({ accounts: 3, creations: 5 });
  });

  it('Each account that differs is logged with its number of differences and the first twenty of them', async () => {
    const keys = Array.from({ length: 21 }, (_, index) => ({
      id: `Key${index}` as KeyId,
      spent: { '2026_11': asMicros(1) },
      spentByDay: {},
    }));
    const books = [{ ...booksWith(5_000_000), keys }, booksWith(4_000_000, other)];
    const { report, log } = await run(books);
    expect(report).toEqual({ accounts: 2, creations: 0, differences: 22 });
    expect(log.entries).toMatchObject([
      ['alarm books_out_of_balance', { accountId, count: 21, differences: { length: 20 } }],
      [
        'alarm books_out_of_balance',
        {
          accountId: other,
          count: 1,
          differences: [{ account: other, what: 'available', expected: 5_000_000, found: 4_000_000 }],
        },
      ],
      ['info books_audited', report],
    ]);
  });
});
