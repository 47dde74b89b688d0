/** The adapters that several functions share, over the AWS clients of this function. */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { callLimits } from '../../adapters/call-limits.ts';
import type { Table } from '../../adapters/dynamodb/table.ts';
import { createImageStore } from '../../adapters/s3-images.ts';
import type { StateMachines } from '../../adapters/step-functions.ts';
import { systemClock } from '../../adapters/system-clock.ts';
import type { ImageStore } from '../../core/ports/images.ts';
import { randomness } from './common.ts';
import { awsEnvironment, environment } from './environment.ts';

export { commonServices, randomness, type CommonServices } from './common.ts';

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
