/**
 * A process for the proof with kill -9: the table engine on a folder storage, behind the local AWS endpoint.
 * It prints its address when it is ready, and runs until it is killed.
 */
import type { AwsService } from '../../../local/aws/aws-call.ts';
import { AwsError } from '../../../local/aws/aws-error.ts';
import { createDynamo } from '../../../local/aws/dynamodb-service.ts';
import { createAwsEndpoint } from '../../../local/aws/endpoint.ts';
import { createFaults } from '../../../local/aws/faults.ts';
import { createObjectStore } from '../../../local/aws/object-store.ts';
import { createFolderStorage } from '../../../local/dynamodb/journal/folder-storage.ts';

const [folder = ''] = process.argv.slice(2);

// A small journal, so that kills meet many snapshots.
const storage = createFolderStorage({ folder, snapshotAfterBytes: 40_000 });
const { service } = createDynamo({ now: Date.now, storage });
await createTableOnce();

async function createTableOnce(): Promise<void> {
  const call = (operation: string, input: Record<string, unknown>): ReturnType<AwsService> =>
    service({ service: 'dynamodb', operation, caller: 'operator', input });
  try {
    await call('CreateTable', {
      TableName: 'Main',
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: ['pk', 'sk'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
      KeySchema: [
        { AttributeName: 'pk', KeyType: 'HASH' },
        { AttributeName: 'sk', KeyType: 'RANGE' },
      ],
    });
  } catch (error) {
    // The process before has created it.
    if (!(error instanceof AwsError) || error.code !== 'ResourceInUseException') throw error;
  }
}

const nothing: AwsService = ({ operation }) =>
  Promise.reject(new AwsError('UnknownOperationException', operation));
const endpoint = createAwsEndpoint({
  dynamodb: service,
  states: nothing,
  secretsmanager: nothing,
  lambda: nothing,
  objectStore: createObjectStore(`${folder}-objects`, { now: Date.now }),
  faults: createFaults(),
  authorize: () => undefined,
  now: Date.now,
});
const { url } = await endpoint.listen();
process.stdout.write(`${url}\n`);
