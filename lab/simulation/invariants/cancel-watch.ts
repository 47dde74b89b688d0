/**
 * The invariants of cancels: each answer matches what happened, and no work is done for a cancelled creation.
 */
import type { Item } from '../../../local/dynamodb/attributes.ts';
import type { CancelOutcome } from '../../../service/creations/cancel.ts';
import type { Service } from '../aws/deployed-service.ts';
import type { Change } from '../aws/simulated-table.ts';
import type { Body } from './answer-body.ts';
import { type Accuse, textOf } from './money-books.ts';

export interface CancelWatch {
  /** Called when a client or the operator asks for a cancel. */
  readonly onAsked: (id: string) => void;
  /** Receives what the client or the operator heard. */
  readonly onTold: (id: string, kind: CancelOutcome['kind']) => void;
  /** Receives the creation of an answer of 200. */
  readonly onAnswer: (id: string, body: Body) => void;
  readonly onCommit: (changes: readonly Change[]) => void;
  readonly atRest: () => void;
}

const truth = 'a cancel is told as it is';

export function createCancelWatch(service: () => Service | undefined, accuse: Accuse): CancelWatch {
  const asked = new Map<string, number>();
  /** Creations whose only cancel was denied. */
  const denied = new Set<string>();
  const itemOf = (id: string): Item | undefined => service()?.table.get(`CREATION#${id}`, 'CREATION');

  function isOver(id: string): void {
    const item = itemOf(id);
    const isRefunded = item?.['refundedMicros']?.N === item?.['costMicros']?.N;
    if (textOf(item, 'status') !== 'failed' || textOf(item, 'cancelledAt') === '' || !isRefunded)
      accuse(truth, `${id} was told as cancelled and is ${textOf(item, 'status')}`);
  }

  /** Nothing was sent, or the vendor has stopped the last job. The attempts before the commit tell what was sent. */
  function nobodyWorks(before: Item | undefined, after: Item): void {
    const begun = before?.['attempts']?.L ?? [];
    const last = begun.at(-1)?.M;
    const ended = after['attempts']?.L?.at(-1)?.M;
    if (begun.length !== (after['attempts']?.L ?? []).length)
      accuse('a cancel keeps what is known of the attempts', textOf(after, 'id'));
    if (last === undefined) return;
    const jobId = last['jobId']?.S ?? '';
    if (ended?.['outcome']?.S !== 'cancelled' || service()?.isStopped(jobId) !== true)
      accuse('a cancelled creation was not sent, or its vendor has stopped it', textOf(after, 'id'));
  }

  return {
    onAsked: (id) => {
      asked.set(id, (asked.get(id) ?? 0) + 1);
      denied.delete(id);
    },
    onTold: (id, kind) => {
      if (kind === 'cancelled') isOver(id);
      else if (asked.get(id) === 1) denied.add(id);
    },
    onAnswer: (id, body) => {
      isOver(id);
      if (body['status'] !== 'failed' || body['cancelled_at'] !== textOf(itemOf(id), 'cancelledAt'))
        accuse(truth, `${id} was answered with ${JSON.stringify(body['cancelled_at'])}`);
      if (body['amount_refunded'] !== body['cost'] || body['retryable'] !== true)
        accuse(truth, `${id} was answered without its refund`);
    },
    onCommit: (changes) => {
      for (const { sk, before, after } of changes) {
        if (sk !== 'CREATION' || !after || textOf(after, 'cancelledAt') === '') continue;
        if (textOf(before, 'cancelledAt') === '') nobodyWorks(before, after);
        else if (JSON.stringify(before?.['attempts']) !== JSON.stringify(after['attempts']))
          accuse('nothing is begun for a cancelled creation', textOf(after, 'id'));
      }
    },
    atRest: () => {
      for (const id of denied)
        if (textOf(itemOf(id), 'cancelledAt') !== '') accuse(truth, `${id} was denied, and cancelled later`);
    },
  };
}
