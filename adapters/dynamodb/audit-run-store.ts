import { noProgress, type AuditProgress } from '../../core/audit/audit-accounts.ts';
import type { LookState } from '../../core/audit/look-at-account.ts';
import type { AccountId } from '../../core/ids.ts';
import type { AuditLock, AuditRun, AuditRunStore } from '../../core/ports/audit-runs.ts';
import { putIf } from './conditional.ts';
import { getItem, putItem } from './send.ts';
import { ttlAttribute, type Item, type ItemKey, type Table } from './table.ts';

/** In a partition of their own. Only the audit reads them. */
const runKey: ItemKey = { pk: 'AUDIT', sk: 'RUN' };
const stateKey = (account: AccountId): ItemKey => ({ pk: 'AUDIT', sk: `ACCOUNT#${account}` });

/** An item has at most 400 KB. The texts in a state are ASCII. */
const longestState = 390_000;
const stateKeptMillis = 7 * 86_400_000;

export function createAuditRunStore(table: Table): AuditRunStore {
  return {
    take: async (day, lock, nowMillis) => {
      const item = await getItem(table, runKey);
      const last = item && runFromItem(item);
      if (Number(item?.['until'] ?? 0) > nowMillis) return 'none';
      if (last?.finishedAt !== undefined && last.day >= day) return 'none';
      const run = last && last.finishedAt === undefined ? last : newRun(day, nowMillis);
      const isTaken = await putIf(table, runToItem(run, lock), {
        // The answer of an earlier try may be lost, so the condition allows our own holder.
        ConditionExpression: 'attribute_not_exists(pk) OR holder = :read OR holder = :own',
        ExpressionAttributeValues: { ':read': item?.['holder'] ?? '', ':own': lock.holder },
      });
      return isTaken ? run : 'none';
    },
    save: (run, lock) =>
      putIf(table, runToItem(run, lock), {
        ConditionExpression: 'holder = :own',
        ExpressionAttributeValues: { ':own': lock.holder },
      }),
    keep: async (account, state, nowMillis) => {
      const text = JSON.stringify(state);
      if (text.length > longestState) return false;
      const expires = Math.ceil((nowMillis + stateKeptMillis) / 1000);
      await putItem(table, { ...stateKey(account), state: text, [ttlAttribute]: expires });
      return true;
    },
    read: async (account) => {
      const text = (await getItem(table, stateKey(account)))?.['state'];
      return typeof text === 'string' ? (JSON.parse(text) as LookState) : undefined;
    },
  };
}

function newRun(day: string, nowMillis: number): AuditRun {
  return { day, startedAt: new Date(nowMillis).toISOString(), progress: noProgress, interrupted: [] };
}

function runToItem(run: AuditRun, { holder, untilMillis }: AuditLock): Item {
  return { ...runKey, ...run, holder, until: untilMillis };
}

function runFromItem(item: Item): AuditRun {
  const { day, startedAt, progress, interrupted, finishedAt } = item;
  return {
    day: String(day),
    startedAt: String(startedAt),
    progress: progress as AuditProgress,
    interrupted: interrupted as readonly AccountId[],
    ...(typeof finishedAt === 'string' && { finishedAt }),
  };
}
