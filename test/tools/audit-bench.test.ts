import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { afterEach, describe, expect, it } from 'vitest';
import { startBooks, type BooksProcess } from '../../tools/audit-bench/books-process.ts';
import { fakeClock } from '../functions/fakes.ts';
import { auditOf } from '../fixtures/books.ts';

let books: BooksProcess | undefined;
afterEach(() => books?.stop());

async function auditGenerated(size: { creations: number; accounts: number }, wrong: number) {
  books = await startBooks(size, wrong);
  const client = DynamoDBDocumentClient.from(
    new DynamoDBClient({
      endpoint: books.url,
      region: 'us-east-1',
      credentials: { accessKeyId: 'bench', secretAccessKey: 'bench' },
    }),
  );
  return auditOf({
    client,
    name: 'books',
    clock: fakeClock(),
    randomBytes: (count) => new Uint8Array(count),
  });
}

describe('the generated books of the benchmark', () => {
  it('The audit counts every account, creation and row, and finds the one wrong cent', async () => {
    const { counted, differences } = await auditGenerated({ creations: 1_200, accounts: 40 }, 20);
    expect(counted).toMatchObject({
      accounts: 40,
      creations: 1_200,
      rows: 40 * (1 + 30 + 4),
      differences: 1,
    });
    expect(
      differences.map(({ account, what, expected, found }) => [account, what, found - expected]),
    ).toEqual([['Bench00020', 'available', 10_000]]);
  });

  it('The audit reads one account of several pages', async () => {
    const { counted } = await auditGenerated({ creations: 2_400, accounts: 1 }, -1);
    expect(counted).toMatchObject({ creations: 2_400, rows: 1 + 2_400 + 300, differences: 0 });
  });
});
