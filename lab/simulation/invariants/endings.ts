/**
 * The invariants of executions: when the last one of an open creation dies, the next one starts at once, and one that
 * succeeds has delivered the webhook or made all of its attempts.
 */
import { createHash } from 'node:crypto';
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import type { Item } from '../../../local/dynamodb/attributes.ts';
import type { CancelOutcome } from '../../../service/creations/cancel.ts';
import type { Payload } from '../../../service/creations/payload.ts';
import { executionName, parseCreationId } from '../../../service/values/ids.ts';
import type { Service } from '../aws/deployed-service.ts';
import type { Change, SimulatedTable } from '../aws/simulated-table.ts';
import type { Body } from '../clients/requests.ts';
import { callingVendor, type SentCallback } from '../network/calling-vendor.ts';
import type { Invocation, World } from '../world/simulated-world.ts';
import { type Accuse, textOf } from './money-books.ts';

/** The event comes within 3 s. A run of the reconciler makes a few calls, and the SDK repeats slow ones. */
const atOnceMillis = 15_000;
/** Later deaths of the same creation wait for the schedule (service/reconcile/reconcile.ts). */
const mostAtOnce = 2;

export function createRecoveryInvariants(world: World, service: () => Service | undefined, accuse: Accuse) {
  const died: { readonly pk: string; readonly executions: number; readonly at: number }[] = [];
  const itemOf = (pk: string): Item | undefined => service()?.table.get(pk, 'CREATION');
  const executionsOf = (item: Item | undefined): number => Number(item?.['executions']?.N);
  const isOpen = (item: Item | undefined): boolean => /^(queued|processing)$/.test(textOf(item, 'status'));

  /** Another execution of the creation goes on, or was aborted: its attempts have moved the times of this one. */
  const isDisplaced = (name: string, creation: string): boolean =>
    [...(service()?.stepFunctions.executions.values() ?? [])].some(
      (other) =>
        other.name !== name &&
        (other.status === 'RUNNING' || other.status === 'ABORTED') &&
        (JSON.parse(other.input) as Payload).creation_id === creation,
    );

  return {
    /** Called when an execution ended without success. */
    onDied: (name: string, { creation_id }: Payload) => {
      const id = parseCreationId(creation_id);
      const pk = `CREATION#${creation_id}`;
      const item = itemOf(pk);
      if (id === undefined || !isOpen(item) || Number(item?.['recoveries']?.N) >= mostAtOnce) return;
      const executions = executionsOf(item);
      if (executionName(id, executions) === name) died.push({ pk, executions, at: world.time.now() });
    },
    /** Called when an execution ended with success. After a fault the reconciler may have to go on. */
    onSucceeded: (name: string, { creation_id }: Payload) => {
      const id = parseCreationId(creation_id);
      const item = itemOf(`CREATION#${creation_id}`);
      const webhook = item?.['webhook']?.M;
      if (id === undefined || executionName(id, executionsOf(item)) !== name) return;
      if (textOf(webhook, 'status') !== 'pending' || world.clocks.largestSkew() > 0) return;
      if (isDisplaced(name, creation_id)) return;
      const undisturbed = Math.max(world.lastFaultAt, service()?.releases.lastBehindAt() ?? 0);
      if (undisturbed < Date.parse(textOf(item, 'createdAt')))
        accuse(
          'an execution ends after its webhook',
          `${name}: attempt ${webhook?.['attempts']?.N} was the last`,
        );
    },
    /** Checks every death that is long enough ago. */
    look: () => {
      const now = world.time.now();
      const ripe = died.findIndex(({ at }) => at + atOnceMillis > now);
      for (const { pk, executions, at } of died.splice(0, ripe === -1 ? died.length : ripe)) {
        // A fault can break the run of the reconciler. A release may not understand what a newer one wrote.
        if (Math.max(world.lastFaultAt, service()?.releases.lastBehindAt() ?? 0) >= at) continue;
        const item = itemOf(pk);
        if (isOpen(item) && executionsOf(item) === executions)
          accuse('the next execution starts at once when the last one died', pk);
      }
    },
  };
}

export function createLeaseInvariants(world: World, accuse: Accuse) {
  /** The invocation that took each creation up last. */
  const renderers = new Map<string, string>();

  function isWrittenInTurn({ pk, before, after }: Change, writer: string): void {
    const isChanged = (name: string): boolean =>
      JSON.stringify(before?.[name]) !== JSON.stringify(after?.[name]);
    if (isChanged('fence')) renderers.set(pk, writer);
    // The end of a creation has a condition of its own, and the first end counts.
    else if (isChanged('attempts') && !isChanged('status') && renderers.get(pk) !== writer)
      accuse(
        'a renderer that lost its lease writes no attempts',
        `${writer} wrote to ${textOf(after, 'id')} after ${renderers.get(pk) ?? 'nobody'}`,
      );
  }

  return {
    onCommit: (changes: readonly Change[]) => {
      const writer = world.current()?.id;
      if (writer === undefined) return;
      for (const change of changes)
        if (change.sk === 'CREATION' && change.before) isWrittenInTurn(change, writer);
    },
  };
}

const terminal = new Set(['completed', 'failed']);

/** A fault of such a call can repeat an invocation that still runs. */
const repeating = 'world task.invoke RenderImage';

export function createCallbackInvariants(
  world: World,
  table: () => SimulatedTable | undefined,
  accuse: Accuse,
) {
  const itemOf = (id: string): ReturnType<SimulatedTable['get']> =>
    table()?.get(`CREATION#${id}`, 'CREATION');
  /**
   * A creation that has ended before its job could be recorded takes every signed callback with its capability as
   * late. Nothing is touched then, and no job is known with which the callback could be compared.
   */
  const isOverWithoutJob = ({ event, forgery }: SentCallback): boolean => {
    if (forgery !== 'about another job') return false;
    const { creation_id: id = '', capability } = event.pathParameters ?? {};
    const item = itemOf(id);
    const called = item?.['attempts']?.L?.find(
      ({ M }) =>
        M?.['callbackHash']?.S ===
        createHash('sha256')
          .update(capability ?? '')
          .digest('hex'),
    );
    return terminal.has(textOf(item, 'status')) && called?.M !== undefined && called.M['jobId'] === undefined;
  };
  return {
    /** Receives the answer of the service to a callback. */
    onCallback: (sent: SentCallback, { statusCode = 0 }: APIGatewayProxyStructuredResultV2) => {
      const { forgery } = sent;
      if (forgery !== undefined && statusCode < 400 && !isOverWithoutJob(sent))
        accuse('a forged callback is never accepted', `${forgery} answered ${statusCode}`);
    },
    /** Called when SendTaskSuccess has ended a task with this output. */
    onTaskEnded: (output: string) => {
      const { creation_id: id } = JSON.parse(output) as { creation_id: string };
      const status = textOf(itemOf(id), 'status');
      if (!terminal.has(status)) accuse('a task ends after its creation', `${id} is ${status}`);
    },
    /** Called when a Task is run again while its function still works. */
    onRunAgain: (creation: string, { id, name, faults }: Invocation) => {
      if (name !== 'RenderImage' || world.injected.some(({ site }) => site.startsWith(repeating))) return;
      // After a fault a heartbeat may be lost, and a function may hang.
      if (faults.length === 0)
        accuse('a task whose renderer works is not run again', `${creation} beside ${id}`);
    },
    /** @param jobs how many jobs the vendor has accepted */
    atRest: (creations: Iterable<string>, jobs: number) => {
      const attempts = [...creations].flatMap((id) => itemOf(id)?.['attempts']?.L ?? []);
      const begun = attempts.filter((attempt) => attempt.M?.['provider']?.S === callingVendor).length;
      if (jobs > begun) accuse('an attempt is one job', `${jobs} jobs of ${begun} attempts`);
    },
  };
}

const truth = 'a cancel is told as it is';

export function createCancelInvariants(service: () => Service | undefined, accuse: Accuse) {
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

  /** Nothing was sent, or the vendor has stopped the last job. The attempts before the commit show what was sent. */
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
    /** Called when a client or the operator asks for a cancel. */
    onAsked: (id: string) => {
      asked.set(id, (asked.get(id) ?? 0) + 1);
      denied.delete(id);
    },
    /** Receives the answer to a cancel. */
    onAnswered: (id: string, kind: CancelOutcome['kind']) => {
      if (kind === 'cancelled') isOver(id);
      else if (asked.get(id) === 1) denied.add(id);
    },
    /** Receives the creation of an answer of 200. */
    onAnswer: (id: string, body: Body) => {
      isOver(id);
      if (body['status'] !== 'failed' || body['cancelled_at'] !== textOf(itemOf(id), 'cancelledAt'))
        accuse(truth, `${id} was answered with ${JSON.stringify(body['cancelled_at'])}`);
      if (body['amount_refunded'] !== body['cost'] || body['retryable'] !== true)
        accuse(truth, `${id} was answered without its refund`);
    },
    onCommit: (changes: readonly Change[]) => {
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
