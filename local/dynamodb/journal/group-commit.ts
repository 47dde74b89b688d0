import type { WritableFile } from './file-operations.ts';

/**
 * Writes lines to the end of a file, many lines with one write and one sync. The lines of one turn of the
 * event loop are one batch. While a batch is on its way to the disk, the next batch collects.
 *
 *   turn 1    add a, add b           batch 1 = a b: write, sync ........ settled
 *   turn 2    add c                                 |  batch 2 collects
 *   turn 3    add d                                 |  batch 2 = c d ... write, sync ... settled
 */
export interface GroupCommit {
  /** Takes a line. Takes nothing after a failure. */
  readonly add: (line: string) => void;
  /** Resolves once every line so far is on disk. Rejects after a failure, and then always. */
  readonly settled: () => Promise<void> | undefined;
  /** Puts later lines into another file, once earlier ones are on disk. A failed `open` leaves them here. */
  readonly continueIn: (open: () => Promise<WritableFile>) => Promise<void>;
  /** Waits until nothing is on its way, and closes the file. */
  readonly close: () => Promise<void>;
}

export interface GroupCommitOptions {
  readonly file: WritableFile;
  /** Runs `work` at the end of this turn of the event loop. */
  readonly endOfTurn: (work: () => void) => void;
  readonly onWritten: (bytes: number) => void;
  /** Makes the error that everybody gets after the first failure. */
  readonly explain: (cause: unknown) => Error;
}

interface Batch {
  readonly lines: string[];
  readonly done: PromiseWithResolvers<void>;
}

interface Move {
  readonly open: () => Promise<WritableFile>;
  readonly done: PromiseWithResolvers<void>;
}

export function createGroupCommit(options: GroupCommitOptions): GroupCommit {
  const { endOfTurn, onWritten, explain } = options;
  let file = options.file;
  /** What is to be done, in order. Only the last step can be a batch that collects. */
  const steps: (Batch | Move)[] = [];
  let collecting: Batch | undefined;
  let flying: Batch | undefined;
  let running: PromiseWithResolvers<void> | undefined;
  let failure: Error | undefined;

  function plan(step: Batch | Move): void {
    steps.push(step);
    if (running !== undefined) return;
    running = quietly();
    endOfTurn(() => void run());
  }

  async function run(): Promise<void> {
    for (let step = steps.shift(); step !== undefined; step = steps.shift()) {
      await ('open' in step ? moveOn(step) : commit(step));
    }
    running?.resolve();
    running = undefined;
  }

  async function moveOn({ open, done }: Move): Promise<void> {
    try {
      const next = await open();
      file.close();
      file = next;
      done.resolve();
    } catch (error) {
      done.reject(error);
    }
  }

  async function commit(batch: Batch): Promise<void> {
    if (batch === collecting) collecting = undefined;
    flying = batch;
    try {
      const bytes = Buffer.from(batch.lines.join(''));
      file.writeNow(bytes);
      await file.sync();
      onWritten(bytes.length);
      batch.done.resolve();
    } catch (error) {
      fail(error);
    }
    flying = undefined;
  }

  /** After a failed write the disk is unknown, and a second attempt could only hide the loss. */
  function fail(cause: unknown): void {
    failure = explain(cause);
    flying?.done.reject(failure);
    for (const { done } of steps.splice(0)) done.reject(failure);
    collecting = undefined;
  }

  function lastBatch(): Batch | undefined {
    return collecting ?? steps.findLast((step) => 'lines' in step) ?? flying;
  }

  return {
    add: (line) => {
      if (failure !== undefined) return;
      if (collecting === undefined) {
        collecting = { lines: [], done: quietly() };
        plan(collecting);
      }
      collecting.lines.push(line);
    },
    settled: () => (failure === undefined ? lastBatch()?.done.promise : Promise.reject(failure)),
    continueIn: (open) => {
      if (failure !== undefined) return Promise.reject(failure);
      collecting = undefined;
      const move = { open, done: quietly() };
      plan(move);
      return move.done.promise;
    },
    close: async () => {
      await running?.promise;
      file.close();
    },
  };
}

/** A promise whose rejection is never reported as unhandled, because callers need not await a batch. */
function quietly(): PromiseWithResolvers<void> {
  const done: PromiseWithResolvers<void> = Promise.withResolvers();
  done.promise.catch(() => undefined);
  return done;
}
