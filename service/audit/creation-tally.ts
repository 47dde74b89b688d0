/**
 * The creations of an account, each with its rows of the ledger. Each charge has its creation and each creation
 * its charge. A creation has one full refund if and only if it failed.
 *
 * The tally forgets a creation as soon as all its rows are there and agree with its record, so that it holds
 * only creations that are open, wait for their refund, or do not agree.
 */
import { isTerminal } from '../creations/creation.ts';
import type { CreationId } from '../values/ids.ts';
import { type AuditedCreation, type AuditedRow, compare, type Finding } from './books.ts';

/** The rows of a creation so far, and its record as it was read last. */
interface Kept {
  charges: number;
  chargedMicros: number;
  chargedAt?: string;
  refunds: number;
  refundedMicros: number;
  isListed: boolean;
  record?: AuditedCreation;
}

export interface CreationTallyState {
  readonly seen: number;
  readonly kept: readonly (readonly [CreationId, Kept])[];
  readonly unread: readonly CreationId[];
  readonly unlisted: readonly CreationId[];
  readonly withoutRows: readonly CreationId[];
}

export type CreationTally = ReturnType<typeof createCreationTally>;

/** @param isRemembered of a creation that is never forgotten, so that all its rows are counted together */
export function createCreationTally(isRemembered: (id: CreationId) => boolean, from?: CreationTallyState) {
  let seen = from?.seen ?? 0;
  const kept = new Map<CreationId, Kept>(from?.kept);
  // Closed creations that the list has not named yet, and listed creations that no row has named yet. The
  // ledger and the list have nearly the same order, so both stay small.
  const unlisted = new Set<CreationId>(from?.unlisted);
  const withoutRows = new Set<CreationId>(from?.withoutRows);

  const unread = new Set<CreationId>(from?.unread);

  const keep = (id: CreationId): Kept => {
    const found = kept.get(id);
    if (found) return found;
    const isListed = withoutRows.delete(id);
    if (!isListed) seen += 1;
    const one: Kept = { charges: 0, chargedMicros: 0, refunds: 0, refundedMicros: 0, isListed };
    kept.set(id, one);
    return one;
  };
  const forgetComplete = (id: CreationId, one: Kept): void => {
    if (isRemembered(id) || !isComplete(one)) return;
    kept.delete(id);
    unread.delete(id);
    if (!one.isListed) unlisted.add(id);
  };

  return {
    row: (row: AuditedRow) => {
      const { creationId, kind, amountMicros, at } = row;
      if (creationId === undefined) return;
      const one = keep(creationId);
      if (kind === 'charge') {
        one.charges += 1;
        one.chargedMicros -= amountMicros;
        one.chargedAt = at;
      } else if (kind === 'refund') {
        one.refunds += 1;
        one.refundedMicros += amountMicros;
      }
      if (!one.record || !isTerminal(one.record.status)) unread.add(creationId);
      forgetComplete(creationId, one);
    },
    listed: (ids: readonly CreationId[]) => {
      for (const id of ids) {
        if (unlisted.delete(id)) continue;
        const one = kept.get(id);
        if (one) one.isListed = true;
        else if (!withoutRows.has(id)) {
          withoutRows.add(id);
          seen += 1;
        }
      }
    },
    unread: (): CreationId[] => [...unread],
    /** Creations whose record may have changed since it was read: it was open, or there was none. */
    unended: (): CreationId[] =>
      [...kept].flatMap(([id, { record }]) => (record && isTerminal(record.status) ? [] : [id])),
    read: (ids: readonly CreationId[], records: readonly AuditedCreation[]) => {
      const found = new Map(records.map((record) => [record.id, record]));
      for (const id of ids) {
        unread.delete(id);
        const record = found.get(id);
        // The list follows the table after a moment, so it may name a creation that is gone.
        if (withoutRows.has(id) && !record) {
          withoutRows.delete(id);
          seen -= 1;
          continue;
        }
        const one = withoutRows.has(id) ? keep(id) : kept.get(id);
        if (!one) continue;
        if (record) one.record = record;
        forgetComplete(id, one);
      }
    },
    withoutRows: (): readonly CreationId[] => [...withoutRows],
    open: (): CreationId[] =>
      [...kept].flatMap(([id, { record }]) => (record && !isTerminal(record.status) ? [id] : [])),
    seen: (): number => seen,
    findings: (): ReadonlyMap<CreationId, readonly Finding[]> =>
      new Map(
        [...kept].flatMap(([id, one]) => {
          const differences = [
            ...differencesOf(id, one),
            // Its own charge may be forgotten. A tally that remembers the creation counts both.
            ...(isRemembered(id) || !isChargedLater(one) ? [] : compare(`charges of ${id}`, 1, 2)),
          ];
          return differences.length === 0 ? [] : [[id, differences] as const];
        }),
      ),
    state: (): CreationTallyState => ({
      seen,
      kept: [...kept],
      unread: [...unread],
      unlisted: [...unlisted],
      withoutRows: [...withoutRows],
    }),
  };
}

/** Whether the creation has ended with all its rows. A second charge has another time. */
function isComplete({ record, charges, chargedMicros, chargedAt, refunds, refundedMicros }: Kept): boolean {
  if (!record || !isTerminal(record.status)) return false;
  const back = record.status === 'failed' ? record.costMicros : 0;
  return (
    charges === 1 &&
    chargedMicros === record.costMicros &&
    chargedAt === record.createdAt &&
    refunds === (record.status === 'failed' ? 1 : 0) &&
    refundedMicros === back &&
    record.refundedMicros === back
  );
}

/** Whether the only charge that is kept has another time than the creation. */
function isChargedLater({ record, charges, chargedAt }: Kept): boolean {
  return record !== undefined && charges === 1 && chargedAt !== record.createdAt;
}

function differencesOf(id: CreationId, one: Kept): Finding[] {
  const { record } = one;
  return [
    ...compare(`creations ${id}`, 1, record ? 1 : 0),
    ...rowDifferences(id, one),
    ...(record ? recordDifferences(record, one) : []),
  ];
}

function rowDifferences(
  id: CreationId,
  { record, charges, chargedMicros, refunds, refundedMicros }: Kept,
): Finding[] {
  const isRefunded = record ? record.status === 'failed' : refunds > 0;
  return [
    ...compare(`charges of ${id}`, 1, charges),
    ...compare(`refunds of ${id}`, isRefunded ? chargedMicros : 0, refundedMicros),
    // Two half refunds also add up, so the number of refund rows is compared as well.
    ...(isRefunded && refundedMicros === chargedMicros ? compare(`refund rows of ${id}`, 1, refunds) : []),
  ];
}

/** Compares the record of a creation. The reconciler never finds an open creation that has no due time. */
function recordDifferences(
  { id, status, costMicros, refundedMicros, dueAt }: AuditedCreation,
  rows: Kept,
): Finding[] {
  return [
    ...compare(`cost of ${id}`, rows.chargedMicros, costMicros),
    ...compare(`amount refunded of ${id}`, rows.refundedMicros, refundedMicros),
    ...(isTerminal(status) ? [] : compare(`due time of ${id}`, 1, dueAt === undefined ? 0 : 1)),
  ];
}
