/** Switches on the table's deletion protection last, so that a deployment can roll back (decision 22). */
import * as z from 'zod';
import { answerRequest, requestSchema } from './custom-resource.ts';
import type { ProtectionServices } from './open.ts';

const tableRequestSchema = requestSchema.extend({
  ResourceProperties: z.object({ TableName: z.string() }),
});

/** DynamoDB may still be changing the table. Two minutes of tries fit into the time of the function. */
const tries = 12;
const pauseMillis = 10_000;

/** Answers CloudFormation. A deletion changes nothing: the table stays with its protection. */
export async function protectTable(event: unknown, services: ProtectionServices): Promise<void> {
  const request = tableRequestSchema.parse(event);
  const { ResourceProperties: properties, ...asked } = request;
  const { TableName: table } = properties;
  const isDeleted = request.RequestType === 'Delete';
  const failure = await answerRequest(asked, services, {
    physicalId: table,
    run: async () => {
      if (!isDeleted) await protect(table, services);
      return undefined;
    },
    done: isDeleted ? 'the table keeps its protection' : 'the table is protected',
  });
  if (failure !== undefined) services.log.info('table_not_protected', { reason: failure });
}

async function protect(table: string, { protection, clock, log }: ProtectionServices): Promise<void> {
  for (let count = 1; count <= tries; count += 1) {
    if ((await protection.protect(table)) === 'protected') {
      log.info('table_protected', { tries: count });
      return;
    }
    if (count < tries) await clock.sleep(pauseMillis);
  }
  throw new Error('DynamoDB was changing the table for two minutes');
}
