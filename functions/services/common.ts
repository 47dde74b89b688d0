/** What every function has. */
import type { Table } from '../../adapters/dynamodb/table.ts';
import type { StateMachines } from '../../adapters/step-functions.ts';
import type { Clock, Log, RandomBytes } from '../../core/ports/runtime.ts';
import type { Schema } from '../../core/schema-version.ts';
import type { On } from './platform.ts';

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
