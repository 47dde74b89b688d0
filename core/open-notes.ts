/**
 * Starts and ends of creations are noted in the running count (core/open-count.ts), by whoever won the transaction that
 * charged or ended the creation. A note never fails its caller and holds it up only for a moment. A note that fails is
 * owed: the next note of this environment carries it. What is lost for good, or was counted twice because an answer
 * was lost, is corrected by the reconciler's next count.
 */
import type { CreationId } from './ids.ts';
import { sampledCount, sampledOneIn } from './open-count.ts';
import type { Charges, ChargeStore } from './ports/charges.ts';
import type { CreationStore } from './ports/creations.ts';
import type { Executions } from './ports/executions.ts';
import type { OpenCountStore } from './ports/open-count.ts';
import type { Clock, Log } from './ports/runtime.ts';

/** How long a note may take. A usual one takes 6 ms. */
const noteMillis = 300;

export interface OpenNotes {
  begun(ids: readonly CreationId[]): Promise<void>;
  ended(id: CreationId): Promise<void>;
  /** Waits for the notes that are being written. */
  settled(): Promise<void>;
}

/** What an environment of a function carries from one request to the next: the sum of its notes that failed. */
export interface OwedNotes {
  sum: number;
}

export interface NoteServices {
  readonly clock: Pick<Clock, 'timeout'>;
  readonly log: Log;
  readonly openCount: OpenCountStore;
  /** The setting: it chooses the sample. */
  readonly serviceCapacity: number;
  /** Of the environment. A throttled table refuses many notes, and without them the service would take in too much. */
  readonly owed: OwedNotes;
}

export function openNotes({ clock, log, openCount, serviceCapacity, owed }: NoteServices): OpenNotes {
  const oneIn = sampledOneIn(serviceCapacity);
  const writing = new Set<Promise<void>>();
  const note = async (change: number): Promise<void> => {
    const sum = change + owed.sum;
    if (sum === 0) return;
    owed.sum = 0;
    const limit = clock.timeout(noteMillis);
    try {
      await openCount.add(sum, limit.signal);
    } catch (error) {
      owed.sum += sum;
      log.info('open_count_not_noted', {
        change: sum,
        error: error instanceof Error ? error.name : 'unknown',
      });
    } finally {
      limit.release();
    }
  };
  const kept = async (change: number): Promise<void> => {
    const written = note(change);
    writing.add(written);
    await written;
    writing.delete(written);
  };
  return {
    begun: (ids) => kept(sampledCount(ids, oneIn)),
    ended: (id) => kept(-sampledCount([id], oneIn)),
    settled: async () => {
      await Promise.all(writing);
    },
  };
}

/** Charges and refunds that are noted. The note of a charge is written while the execution starts (notedStarts). */
export function notedCharges(charges: Charges, notes: OpenNotes): Charges {
  return {
    charge: async (order) => {
      const outcome = await charges.charge(order);
      if (outcome.kind === 'charged') void notes.begun(order.creations.map(({ id }) => id));
      return outcome;
    },
    refund: async (creation, refund) => {
      const outcome = await charges.refund(creation, refund);
      if (outcome === 'refunded') await notes.ended(creation.id);
      return outcome;
    },
  };
}

/** Starts after noted charges. A start waits for the notes, because Lambda freezes a function that has answered. */
export function notedStarts(executions: Executions, notes: OpenNotes): Executions {
  return {
    ...executions,
    start: async (creation, number) => {
      const [outcome] = await Promise.all([executions.start(creation, number), notes.settled()]);
      return outcome;
    },
  };
}

/** Charges, refunds and cancels that are noted. */
export function notedChargeStore(charges: ChargeStore, notes: OpenNotes): ChargeStore {
  return {
    ...notedCharges(charges, notes),
    cancel: async (creation, cancel) => {
      const outcome = await charges.cancel(creation, cancel);
      if (outcome === 'cancelled') await notes.ended(creation.id);
      return outcome;
    },
  };
}

/** Completions that are noted. */
export function notedCompletions(creations: CreationStore, notes: OpenNotes): CreationStore {
  return {
    ...creations,
    complete: async (creation, done) => {
      const outcome = await creations.complete(creation, done);
      if (outcome === 'completed') await notes.ended(creation.id);
      return outcome;
    },
  };
}
