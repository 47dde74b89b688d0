/** What every function has. */
import type { Table } from '../aws/dynamodb/table.ts';
import { createTasks, type Tasks } from '../aws/step-functions.ts';
import type { StateMachines } from '../creations/executions.ts';
import { createResultAddresses, type ResultAddresses } from '../creations/result-addresses.ts';
import type { Clock, Log, RandomBytes, Schema } from '../values/runtime.ts';
import type { On, Platform, ResultsPlatform } from './platform.ts';

export interface CommonServices {
  readonly clock: Clock;
  readonly randomBytes: RandomBytes;
  readonly log: Log;
  readonly schema: Schema;
}

/** @param component the function's name in its log */
export function commonOf(on: On, component: string): CommonServices {
  return {
    clock: on.clock,
    randomBytes: on.randomBytes,
    log: on.log(component),
    schema: on.schema(),
  };
}

export function tableOf({ dynamodb, environment, clock, randomBytes }: On<'dynamodb'>): Table {
  return { client: dynamodb, name: environment('TABLE_NAME'), clock, randomBytes };
}

export function machinesOf({ environment }: On): StateMachines {
  return { plain: environment('STATE_MACHINE_ARN'), callback: environment('CALLBACK_MACHINE_ARN') };
}

/** The addresses of results, as this function makes them. */
export function resultsOf({ environment, resultSigner }: On & ResultsPlatform): ResultAddresses {
  return createResultAddresses(environment('RESULTS_BASE_URL'), resultSigner);
}

/** @param signal of the request's time, where there is a request */
export function tasksOf({ states }: Pick<Platform, 'states'>, log: Log, signal?: AbortSignal): Tasks {
  return createTasks(states, {
    onDefect: (error) => log.alarm('task_not_ended', { error }),
    ...(signal && { signal }),
  });
}

// When a function builds its clients: at its first event, so that an import reads no environment.

/** Opens the services of one request, whose time begins now. The function owns their clients. */
export type OpenServices<Services> = () => Services;

export type ServicesOf<Opener extends (on: never) => OpenServices<unknown>> = ReturnType<ReturnType<Opener>>;

/** For an operation of the API: builds the clients once, and opens the services of each request. */
export function atFirstRequest<Services>(build: () => OpenServices<Services>): OpenServices<Services> {
  const opener = once(build);
  return () => opener()();
}

/** Calls `build` at the first call, and returns the same value from then on. */
export function once<Value>(build: () => Value): () => Value {
  let built: { readonly value: Value } | undefined;
  return () => (built ??= { value: build() }).value;
}
