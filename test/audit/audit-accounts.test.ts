import { describe, expect, it } from 'vitest';
import { auditAccount, type AuditedAccount } from '../../service/audit/audit-accounts.ts';
import type { CheckState } from '../../service/audit/check-account.ts';
import type { CreationId } from '../../service/values/ids.ts';
import { asMicros } from '../../service/values/money.ts';
import { closingsInMemory } from '../fixtures/closings.ts';
import { accountId } from '../fixtures/records.ts';
import { costMicros, workingAccount, type WorkingAccount } from './working-account.ts';

/** An account with three pages of rows: every third creation failed, and the last two are open. */
function usedAccount(): WorkingAccount & { readonly ids: readonly CreationId[] } {
  const account = workingAccount();
  const ids = Array.from({ length: 20 }, (_, index) => {
    const id = account.charge();
    if (index % 3 === 0) account.refund(id);
    else if (index < 18) account.complete(id);
    return id;
  });
  return Object.assign(account, { ids });
}

interface Audited extends AuditedAccount {
  readonly pauses: number;
}

async function audit(account: WorkingAccount, onPause: () => void = () => undefined): Promise<Audited> {
  let pauses = 0;
  const pause = async (): Promise<void> => {
    pauses += 1;
    onPause();
    return Promise.resolve();
  };
  const nowMillis = (): number => account.nowMillis();
  const audited = await auditAccount(accountId, {
    books: account.books,
    closings: closingsInMemory('compared'),
    nowMillis,
    pause,
    isTimeUp: () => false,
  });
  if ('unfinished' in audited) throw new Error('the audit ended early');
  return { ...audited, pauses };
}

const namesOf = ({ differences }: AuditedAccount): string[] => differences.map(({ what }) => what).sort();

describe('the audit of an account that nobody uses', () => {
  it('The books of the account balance at the first comparison', async () => {
    const audited = await audit(usedAccount());
    expect(audited).toMatchObject({ differences: [], isSettled: true, creations: 20, rows: 27, pauses: 0 });
  });

  it('One wrong cent is found, and reported with both sums', async () => {
    const account = usedAccount();
    account.add({ availableMicros: 10_000 });
    const expected = 0 - 13 * costMicros;
    expect((await audit(account)).differences).toEqual([
      { account: accountId, what: 'available', expected, found: expected + 10_000 },
    ]);
  });

  it.each<['refund' | 'charge', number, readonly string[]]>([
    ['refund', 0, ['amount refunded of', 'refunds of']],
    ['charge', 1, ['charges of', 'cost of']],
  ])('A second %s that comes pages after the first one is told as such', async (kind, index, whats) => {
    const account = usedAccount();
    const amount = kind === 'refund' ? costMicros : 0 - costMicros;
    const creationId = account.ids[index] as CreationId;
    account.addRow({ kind, amountMicros: asMicros(amount), creationId });
    account.add({ availableMicros: amount });
    expect(namesOf(await audit(account))).toEqual(whats.map((what) => `${what} ${creationId}`));
  });

  it('A row that comes while the audit waits clears the difference', async () => {
    const account = usedAccount();
    account.add({ availableMicros: 10_000 });
    const audited = await audit(account, () => account.add({ availableMicros: -10_000 }));
    expect(audited).toMatchObject({ differences: [], pauses: 1 });
  });
});

describe('the audit of an account in which money moves', () => {
  const movements: readonly [string, (account: ReturnType<typeof usedAccount>) => void][] = [
    ['charge', (account) => void account.charge()],
    ['refund', (account) => account.refund(account.ids[19] as CreationId)],
    ['completion', (account) => account.complete(account.ids[19] as CreationId)],
    [
      'charge with its refund',
      (account) => {
        account.refund(account.charge());
      },
    ],
  ];

  it.each(movements)('A %s between any two reads is no difference', async (_name, move) => {
    const quiet = usedAccount();
    await audit(quiet);
    for (let at = 1; at <= quiet.reads(); at += 1) {
      const account = usedAccount();
      account.afterRead = (reads) => {
        if (reads === at) move(account);
      };
      const audited = await audit(account);
      expect(audited, `after read ${at}`).toMatchObject({ differences: [], isSettled: true });
    }
  });

  /** Charges after each read, and ends the creation that is open longest. */
  function busy(account: WorkingAccount, readsInAll: number): void {
    const open: CreationId[] = [];
    account.afterRead = (reads) => {
      if (reads > readsInAll) return;
      open.push(account.charge());
      const first = open.length > 5 ? open.shift() : undefined;
      if (first && reads % 4 === 0) account.refund(first);
      else if (first) account.complete(first);
    };
  }

  it('Nothing is reported of an account that is busy for sixty reads', async () => {
    const account = usedAccount();
    busy(account, 60);
    expect(await audit(account)).toMatchObject({ differences: [], isSettled: true });
  });

  it('One wrong cent is found in an account that is busy for sixty reads', async () => {
    const account = usedAccount();
    account.add({ availableMicros: 10_000 });
    busy(account, 60);
    expect(namesOf(await audit(account))).toEqual(['available']);
  });

  it('An account without a quiet moment is reported as not settled, and has no difference', async () => {
    const account = usedAccount();
    busy(account, Infinity);
    expect(await audit(account)).toMatchObject({ differences: [], isSettled: false });
  });

  it('A wrong number of open creations is found in an account without a quiet moment', async () => {
    const account = usedAccount();
    account.add({ inFlight: 10 });
    busy(account, Infinity);
    expect(namesOf(await audit(account))).toEqual(['in_flight']);
  });
});

describe('the audit of an account that is interrupted', () => {
  /** Interrupts the audit after every page. */
  async function inParts(account: WorkingAccount): Promise<{ audited: AuditedAccount; parts: number }> {
    let state: CheckState | undefined;
    for (let parts = 1; ; parts += 1) {
      let pages = 0;
      const isTimeUp = (): boolean => {
        pages += 1;
        return pages === 2;
      };
      const { books } = account;
      const nowMillis = (): number => account.nowMillis();
      const pause = (): Promise<void> => Promise.resolve();
      const closings = closingsInMemory('compared');
      const audited = await auditAccount(accountId, { books, closings, nowMillis, pause, isTimeUp }, state);
      if (!('unfinished' in audited)) return { audited, parts };
      state = JSON.parse(JSON.stringify(audited.unfinished)) as CheckState;
    }
  }

  it('An audit in several parts counts what an audit in one part counts', async () => {
    const { audited, parts } = await inParts(usedAccount());
    expect(parts).toBe(2);
    expect(audited).toEqual({
      account: accountId,
      creations: 20,
      rows: 27,
      differences: [],
      isSettled: true,
    });
  });

  it('One wrong cent is found', async () => {
    const account = usedAccount();
    account.add({ availableMicros: 10_000 });
    expect(namesOf((await inParts(account)).audited)).toEqual(['available']);
  });
});
