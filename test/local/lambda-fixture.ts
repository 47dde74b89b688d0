/** What the tests of Lambda share: functions of a few lines, and the ways in which their code crashes. */
import { afterAll, afterEach } from 'vitest';
import { openClock } from '../../local/clock.ts';
import { createLocalFunctions } from '../../local/lambda/functions.ts';
import type { InvocationSource, LocalFunctions } from '../../local/lambda/functions.ts';
import type { FunctionLogLine, InvocationResult, LambdaError } from '../../local/lambda/messages.ts';
import { poolLimits, type PoolLimits } from '../../local/lambda/worker-pool.ts';
import { newFolder, writeBundle } from './machine-fixture.ts';

export interface Running {
  readonly id: string;
  readonly invoke: (event?: unknown, source?: InvocationSource) => Promise<InvocationResult>;
  readonly functions: LocalFunctions;
  readonly log: readonly FunctionLogLine[];
  readonly clock: ReturnType<typeof openClock>;
}

/** A second worker starts only when the first one is full or blocked, however busy the first one is. */
export const oneWorker: PoolLimits = { ...poolLimits, environmentsWhenBusy: 1, blockedMillis: 600 };

export interface RunOptions {
  readonly timeoutSeconds?: number;
  readonly top?: string;
  readonly environment?: Record<string, string>;
  readonly limits?: PoolLimits;
  readonly streams?: boolean;
  readonly reservedConcurrency?: number;
}

/**
 * Makes the `run` of one test file. `run` starts a local Lambda with one function: `code` is the body of the
 * handler, and `top` stands before the handler. The Lambda stops at the end of the test. Each test file makes
 * its own, because the hooks belong to the file.
 */
export function createRunner(): (code: string, options?: RunOptions) => Running {
  const folder = newFolder(afterAll);
  let started: LocalFunctions | undefined;
  afterEach(() => started?.stop());
  let count = 0;
  return function run(code: string, options: RunOptions = {}): Running {
    const { timeoutSeconds = 5, top = '', environment = {}, limits = oneWorker } = options;
    const { streams = false, reservedConcurrency } = options;
    const id = `Fn${++count}`;
    const log: FunctionLogLine[] = [];
    const clock = openClock();
    const functions = createLocalFunctions({
      functions: [
        {
          id,
          roleId: `${id}Role`,
          codeFolder: writeBundle(folder, id, { code, top, streams }),
          handler: 'index.handler',
          environment,
          timeoutSeconds,
          reservedConcurrency,
        },
      ],
      clock,
      awsUrl: 'http://127.0.0.1:1',
      limits,
      log: (line) => log.push(line),
    });
    started = functions;
    return {
      id,
      functions,
      log,
      clock,
      invoke: (event = {}, source = 'task') => functions.invoke(id, event, source),
    };
  };
}

/** The error of an invocation that fails. */
export async function failure(invocation: Promise<InvocationResult>): Promise<LambdaError> {
  const result = await invocation;
  if (result.ok) throw new Error('it did not fail');
  return result.error;
}

/** The ways in which code crashes, with the error that Lambda gives. */
export const crashes: readonly [how: string, code: string, errorType: string, errorMessage: RegExp][] = [
  ['process.exit', 'process.exit(3)', 'Runtime.ExitError', /exit status 3$/],
  [
    'killing its own process',
    'process.kill(process.pid, "SIGKILL"); await new Promise(() => 0)',
    'Runtime.ExitError',
    /exit status 137$/,
  ],
  [
    'an uncaught exception',
    'setTimeout(() => { throw new TypeError("late") }); await new Promise(() => 0)',
    'TypeError',
    /^late$/,
  ],
  [
    'an unhandled rejection',
    'void Promise.reject(new Error("lost")); await new Promise(() => 0)',
    'Runtime.UnhandledPromiseRejection',
    /^lost$/,
  ],
];
