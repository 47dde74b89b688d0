/** The invariants of callbacks, of the tasks that they end, and of the vendor's jobs. */
import { createHash } from 'node:crypto';
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import type { SimulatedTable } from '../aws/simulated-table.ts';
import { callingVendor, type SentCallback } from '../network/calling-vendor.ts';
import type { Invocation, World } from '../world/simulated-world.ts';
import { type Accuse, textOf } from './money-books.ts';

export interface CallbackWatch {
  /** Receives the answer of the service to a callback. */
  readonly onCallback: (sent: SentCallback, answer: APIGatewayProxyStructuredResultV2) => void;
  /** Called when SendTaskSuccess has ended a task with this output. */
  readonly onTaskEnded: (output: string) => void;
  /** Called when a Task is run again while its function still works. */
  readonly onRunAgain: (creation: string, earlier: Invocation) => void;
  /** @param jobs how many jobs the vendor has accepted */
  readonly atRest: (creations: Iterable<string>, jobs: number) => void;
}

const terminal = new Set(['completed', 'failed']);

/** A fault of such a call can repeat an invocation that still runs. */
const repeating = 'world task.invoke RenderImage';

export function createCallbackWatch(
  world: World,
  table: () => SimulatedTable | undefined,
  accuse: Accuse,
): CallbackWatch {
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
    onCallback: (sent, { statusCode = 0 }) => {
      const { forgery } = sent;
      if (forgery !== undefined && statusCode < 400 && !isOverWithoutJob(sent))
        accuse('a forged callback is never accepted', `${forgery} answered ${statusCode}`);
    },
    onTaskEnded: (output) => {
      const { creation_id: id } = JSON.parse(output) as { creation_id: string };
      const status = textOf(itemOf(id), 'status');
      if (!terminal.has(status)) accuse('a task ends after its creation', `${id} is ${status}`);
    },
    onRunAgain: (creation, { id, name, faults }) => {
      if (name !== 'RenderImage' || world.injected.some(({ site }) => site.startsWith(repeating))) return;
      // After a fault a heartbeat may be lost, and a function may hang.
      if (faults.length === 0)
        accuse('a task whose renderer works is not run again', `${creation} beside ${id}`);
    },
    atRest: (creations, jobs) => {
      const attempts = [...creations].flatMap((id) => itemOf(id)?.['attempts']?.L ?? []);
      const begun = attempts.filter((attempt) => attempt.M?.['provider']?.S === callingVendor).length;
      if (jobs > begun) accuse('an attempt is one job', `${jobs} jobs of ${begun} attempts`);
    },
  };
}
