/** The adapters that several functions share, over the AWS clients of this function. */
import { randomBytes } from 'node:crypto';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { callLimits } from '../../adapters/call-limits.ts';
import type { Table } from '../../adapters/dynamodb/table.ts';
import { createJsonLog } from '../../adapters/json-log.ts';
import { createImageStore } from '../../adapters/s3-images.ts';
import type { StateMachines } from '../../adapters/step-functions.ts';
import { systemClock } from '../../adapters/system-clock.ts';
import type { ImageStore } from '../../core/ports/images.ts';
import type { Clock, Log, RandomBytes } from '../../core/ports/runtime.ts';
import { schema, type Schema } from '../../core/schema-version.ts';
import { awsEnvironment, environment } from './environment.ts';

/** What every function has. */
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

export function table(): Table {
  const client = DynamoDBDocumentClient.from(new DynamoDBClient(callLimits()), {
    marshallOptions: { removeUndefinedValues: true },
  });
  return { client, name: environment('TABLE_NAME'), clock: systemClock, randomBytes: randomness };
}

export function stateMachines(): StateMachines {
  return { plain: environment('STATE_MACHINE_ARN'), callback: environment('CALLBACK_MACHINE_ARN') };
}

/** @param signal of the request's time, where there is a request */
export function imageStore(signal?: AbortSignal): ImageStore {
  return createImageStore({
    clock: systemClock,
    bucket: environment('IMAGES_BUCKET'),
    ...awsEnvironment(),
    ...(signal && { signal }),
  });
}
