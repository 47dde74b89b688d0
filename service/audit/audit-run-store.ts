/** The progress and the result of the daily audit. */
import { putIf } from '../aws/dynamodb/conditional.ts';
import { getItem, putItem } from '../aws/dynamodb/send.ts';
import { type Item, type ItemKey, type Table, ttlAttribute } from '../aws/dynamodb/table.ts';
import type { AccountId } from '../values/ids.ts';
import type { AuditProgress } from './audit-accounts.ts';
import { type AuditRun, newRun } from './audit-run.ts';
import type { CheckState } from './check-account.ts';

/** In a partition of their own. Only the audit reads them. */
const runKey: ItemKey = { pk: 'AUDIT', sk: 'RUN' };
const stateKey = (account: AccountId): ItemKey => ({ pk: 'AUDIT', sk: `ACCOUNT#${account}` });

/** An item has at most 400 KB. The texts in a state are ASCII. */
const longestState = 390_000;
const stateKeptMillis = 7 * 86_400_000;

export function createAuditRunStore(table: Table) {
  return {
    /**
     * Takes the lock, and returns the run that is not finished, or a new run of this day. `none`: the run of
     * this day is finished, or somebody works on it.
     */
    take: async (day: string, lock: AuditLock, nowMillis: number): Promise<AuditRun | 'none'> => {
      const item = await getItem(table, runKey);
      const last = item && runFromItem(item);
      if (Number(item?.['until'] ?? 0) > nowMillis) return 'none';
      if (last?.finishedAt !== undefined && last.day >= day) return 'none';
      const run = last && last.finishedAt === undefined ? last : newRun(day, nowMillis, last?.wholeMonth);
      const isTaken = await putIf(table, runToItem(run, lock), {
        // The answer of an earlier try may be lost, so the condition allows our own holder.
        ConditionExpression: 'attribute_not_exists(pk) OR holder = :read OR holder = :own',
        ExpressionAttributeValues: { ':read': item?.['holder'] ?? '', ':own': lock.holder },
      });
      return isTaken ? run : 'none';
    },
    /** False: another holder has taken the run. A lock that ends now gives the run back. */
    save: (run: AuditRun, lock: AuditLock): Promise<boolean> =>
      putIf(table, runToItem(run, lock), {
        ConditionExpression: 'holder = :own',
        ExpressionAttributeValues: { ':own': lock.holder },
      }),
    /** Keeps the state of an interrupted account. False: it is too large, and the account begins again. */
    keep: async (account: AccountId, state: CheckState, nowMillis: number): Promise<boolean> => {
      const text = JSON.stringify(state);
      if (text.length > longestState) return false;
      const expires = Math.ceil((nowMillis + stateKeptMillis) / 1000);
      await putItem(table, { ...stateKey(account), state: text, [ttlAttribute]: expires });
      return true;
    },
    read: async (account: AccountId): Promise<CheckState | undefined> => {
      const text = (await getItem(table, stateKey(account)))?.['state'];
      if (typeof text !== 'string') return undefined;
      const state = JSON.parse(text) as CheckState;
      // An older release has no sums by month. Such an account begins again.
      return 'byMonth' in state.sums ? state : undefined;
    },
  };
}

function runToItem(run: AuditRun, { holder, untilMillis }: AuditLock): Item {
  return { ...runKey, ...run, holder, until: untilMillis };
}

function runFromItem(item: Item): AuditRun {
  const { day, startedAt, progress, interrupted, isWhole, wholeMonth, finishedAt } = item;
  return {
    day: String(day),
    startedAt: String(startedAt),
    progress: progress as AuditProgress,
    interrupted: interrupted as readonly AccountId[],
    // The runs of older releases were whole.
    isWhole: isWhole !== false,
    ...(typeof wholeMonth === 'string' && { wholeMonth }),
    ...(typeof finishedAt === 'string' && { finishedAt }),
  };
}

// Keeps how far the daily audit is, so that a run that was ended continues where it was.

export interface AuditLock {
  readonly holder: string;
  readonly untilMillis: number;
}

/** Every function throws Overloaded when the table stayed busy. */
export type AuditRunStore = ReturnType<typeof createAuditRunStore>;
