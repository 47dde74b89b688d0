/** What every function has. */
import type { Table } from '../aws/dynamodb/table.ts';
import { createTasks, type Tasks } from '../aws/step-functions-tasks.ts';
import type { StateMachines } from '../creations/executions.ts';
import type { Clock, Log, RandomBytes } from '../values/runtime.ts';
import type { Schema } from '../values/schema-version.ts';
import type { On, Platform } from './platform.ts';

export interface CommonServices {
  readonly clock: Clock;
  readonly randomBytes: RandomBytes;
  readonly log: Log;
  /** What this release writes and understands. */
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

/** @param signal of the request's time, where there is a request */
export function tasksOf({ states }: Pick<Platform, 'states'>, log: Log, signal?: AbortSignal): Tasks {
  return createTasks(states, {
    onDefect: (error) => log.alarm('task_not_ended', { error }),
    ...(signal && { signal }),
  });
}
