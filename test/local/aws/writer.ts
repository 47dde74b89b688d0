/**
 * A process that writes without pause until it is killed. It prints each number when the write of that number
 * has been answered.
 */
import { createDynamo } from '../../../local/aws/dynamodb-service.ts';
import { createFolderStorage } from '../../../local/dynamodb/journal/folder-storage.ts';
import { tableDefinition } from './table.ts';

const [folder = '', first = '0'] = process.argv.slice(2);
const { service } = createDynamo({ storage: createFolderStorage({ folder }), now: Date.now });
const call = (operation: string, input: Record<string, unknown>): Promise<unknown> =>
  service({ service: 'dynamodb', operation, caller: 'operator', input });

if (first === '0') await call('CreateTable', structuredClone(tableDefinition));
for (let n = Number(first); ; n += 1) {
  await call('TransactWriteItems', {
    TransactItems: ['one', 'two'].map((sk) => ({
      Put: {
        TableName: tableDefinition.TableName,
        Item: { pk: { S: String(n) }, sk: { S: sk }, work: { S: sk }, due_at: { N: String(n) } },
      },
    })),
  });
  process.stdout.write(`${n}\n`);
}
