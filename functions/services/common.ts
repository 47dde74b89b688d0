/** What every function has. This file loads no client of the SDK, so that a small function stays small. */
import { randomBytes } from 'node:crypto';
import { createJsonLog } from '../../adapters/json-log.ts';
import { systemClock } from '../../adapters/system-clock.ts';
import type { Clock, Log, RandomBytes } from '../../core/ports/runtime.ts';
import { schema, type Schema } from '../../core/schema-version.ts';
import { environment } from './environment.ts';

export interface CommonServices {
  readonly clock: Clock;
  readonly randomBytes: RandomBytes;
  readonly log: Log;
  /** What this release writes and understands. */
  readonly schema: Schema;
}

export const randomness: RandomBytes = (count) => randomBytes(count);

/** @param component the function's name in its log */
export function commonServices(component: string): CommonServices {
  const namespace = environment('METRICS_NAMESPACE');
  const log = createJsonLog({ component, namespace, now: () => systemClock.now() });
  return { clock: systemClock, randomBytes: randomness, log, schema };
}
