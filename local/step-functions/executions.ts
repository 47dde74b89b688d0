import { openJournal } from '../journal.ts';
import type { OnWriteFailed } from '../disk.ts';
import type { ExecutionIdentity, HistoryEvent, Outcome } from './state-machine.ts';

export type ExecutionStatus = 'RUNNING' | Outcome['status'];

/** An execution, as the journal keeps it. Instants are milliseconds since 1970, of the virtual clock. */
export interface Execution extends ExecutionIdentity {
  readonly machineArn: string;
  /** The JSON text that StartExecution received. */
  readonly input: string;
  readonly startedAt: number;
  readonly history: HistoryEvent[];
  status: ExecutionStatus;
  stoppedAt?: number;
  /** JSON text, only of an execution that succeeded. */
  output?: string;
  error?: string;
  cause?: string;
}

/** Runs executions. It reports to the store's onHistory and onClosed. */
export interface ExecutionEngine {
  readonly start: (machineArn: string, execution: ExecutionIdentity, input: unknown) => void;
  readonly abort: (executionArn: string) => void;
}

/**
 * The executions of one data folder. An execution that start() has returned survives kill -9.
 */
export interface Executions {
  readonly find: (arn: string) => Execution | undefined;
  readonly list: () => Execution[];
  readonly start: (machineArn: string, identity: ExecutionIdentity, input: string) => Execution;
  /** Resolves once everything so far survives a power failure, too. */
  readonly settled: () => Promise<void>;
  /** Ends a running execution as ABORTED. A closed execution stays as it is. */
  readonly stop: (arn: string) => Execution | undefined;
  readonly onHistory: (arn: string, event: HistoryEvent) => void;
  readonly onClosed: (arn: string, outcome: Outcome) => void;
  /** Runs every execution that was open at the end, from its first state. Returns their number. */
  readonly resume: () => number;
  readonly close: () => void;
}

export interface ExecutionsOptions {
  /** The file of the journal. Its folder is made when it is missing. */
  readonly file: string;
  readonly now: () => number;
  readonly engine: ExecutionEngine;
  /** Receives every execution that closed, after the journal has it. */
  readonly onStatusChange: (execution: Execution) => void;
  readonly onWriteFailed?: OnWriteFailed;
}

type Entry =
  | { readonly kind: 'started'; readonly execution: Execution }
  | { readonly kind: 'closed'; readonly arn: string; readonly closed: Partial<Execution> };

/** AWS keeps a closed execution, and its name in use, for this long. */
const keptMillis = 90 * 24 * 60 * 60 * 1_000;

/** Opens the store and reads its journal. No execution runs before resume(). */
export function openExecutions(options: ExecutionsOptions): Executions {
  const { file, now, engine, onStatusChange, onWriteFailed } = options;
  const oldest = now() - keptMillis;
  const executions = new Map<string, Execution>();
  const replayed = (entries: readonly Entry[]): Entry[] => {
    for (const execution of replay(entries))
      if ((execution.stoppedAt ?? oldest) >= oldest) executions.set(execution.arn, execution);
    return [...executions.values()].map((execution) => ({ kind: 'started', execution }));
  };
  const { journal } = openJournal<Entry>(file, replayed, onWriteFailed);
  const running = (arn: string): Execution | undefined => {
    const execution = executions.get(arn);
    return execution?.status === 'RUNNING' ? execution : undefined;
  };
  const run = (execution: Execution): void => {
    engine.start(
      execution.machineArn,
      { name: execution.name, arn: execution.arn },
      JSON.parse(execution.input),
    );
  };

  function onClosed(arn: string, outcome: Outcome): void {
    const execution = running(arn);
    if (execution === undefined) return; // It was stopped in the meantime.
    const closed = { ...factsOf(outcome), stoppedAt: now(), history: execution.history };
    journal.append({ kind: 'closed', arn, closed });
    onStatusChange(Object.assign(execution, closed));
  }

  return {
    find: (arn) => executions.get(arn),
    list: () => [...executions.values()],
    start: (machineArn, identity, input) => {
      const execution: Execution = {
        ...identity,
        machineArn,
        input,
        startedAt: now(),
        history: [],
        status: 'RUNNING',
      };
      journal.append({ kind: 'started', execution });
      executions.set(execution.arn, execution);
      run(execution);
      return execution;
    },
    settled: journal.settled,
    stop: (arn) => {
      if (running(arn) !== undefined) {
        engine.abort(arn);
        onClosed(arn, { status: 'ABORTED' });
      }
      return executions.get(arn);
    },
    onHistory: (arn, event) => void running(arn)?.history.push(event),
    onClosed,
    resume: () => {
      const open = [...executions.values()].filter(({ status }) => status === 'RUNNING');
      for (const execution of open) run(execution);
      return open.length;
    },
    close: () => journal.close(),
  };
}

function replay(entries: readonly Entry[]): Iterable<Execution> {
  const executions = new Map<string, Execution>();
  for (const entry of entries) {
    if (entry.kind === 'started') executions.set(entry.execution.arn, entry.execution);
    else {
      const execution = executions.get(entry.arn);
      if (execution !== undefined) Object.assign(execution, entry.closed);
    }
  }
  return executions.values();
}

function factsOf(outcome: Outcome): Pick<Execution, 'status' | 'output' | 'error' | 'cause'> {
  switch (outcome.status) {
    case 'SUCCEEDED':
      return { status: 'SUCCEEDED', output: JSON.stringify(outcome.output ?? null) };
    case 'FAILED':
      return { status: 'FAILED', error: outcome.error, cause: outcome.cause };
    case 'TIMED_OUT':
      return { status: 'TIMED_OUT', error: 'States.Timeout' };
    case 'ABORTED':
      return { status: 'ABORTED' };
  }
}
