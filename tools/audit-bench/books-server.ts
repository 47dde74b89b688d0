/** A process that answers the audit's reads as DynamoDB does, from generated books, and keeps its progress. */
import { createServer } from 'node:http';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { generateBooks, type GeneratedBooks } from './generated-books.ts';

type Item = Readonly<Record<string, unknown>>;
type Marshalled = NonNullable<Parameters<typeof unmarshall>[0]>;

interface Read {
  readonly Key?: Marshalled;
  readonly IndexName?: string;
  readonly ExpressionAttributeValues?: Marshalled;
  readonly ExclusiveStartKey?: Marshalled;
  readonly Limit?: number;
  readonly ProjectionExpression?: string;
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>>;
  readonly Item?: Marshalled;
  readonly RequestItems?: Readonly<
    Record<string, Pick<Read, 'ProjectionExpression' | 'ExpressionAttributeNames'> & { Keys: Marshalled[] }>
  >;
}

interface Entries {
  readonly count: number;
  readonly start: number;
  readonly at: (place: number) => Item;
}

const [creations = 0, accounts = 1, wrong = -1] = process.argv.slice(2).map(Number);
const books = generateBooks({ creations, accounts }, wrong);
const kept = new Map<string, Item>();
const keyItems = new Map<number, Item>();
/** The units of the reads, as DynamoDB counts them. */
let readUnits = 0;

const numberOf = (pk: string): number => Number(pk.slice(-5));

function entriesOf(query: Read, generated: GeneratedBooks): Entries {
  const values = unmarshall(query.ExpressionAttributeValues ?? {});
  const from = query.ExclusiveStartKey && unmarshall(query.ExclusiveStartKey);
  const list = values[':list'] as string | undefined;
  if (list === 'ACCOUNTS') {
    const after = (from?.['listed'] ?? values[':after']) as string | undefined;
    const start = after === undefined ? 0 : numberOf(after) + 1;
    return { count: accounts, start, at: (place) => generated.accountListed(place) };
  }
  if (list !== undefined) {
    const account = numberOf(list);
    const after = (from?.['listed'] ?? values[':after']) as string | undefined;
    const start = after === undefined ? 0 : generated.creationFrom(after);
    const at = (place: number): Item => generated.creationListed(account, place);
    return { count: generated.creationsEach, start, at };
  }
  const account = numberOf(String(values[':pk']));
  if (values[':from'] !== undefined) {
    const start = from ? generated.rowFrom(`${from['sk']}!`) : generated.rowFrom(String(values[':from']));
    return { count: generated.rows(), start, at: (place) => generated.ledgerRow(account, place) };
  }
  const isOfKeys = values[':beginning'] === 'KEY#';
  return { count: isOfKeys ? 1 : 0, start: 0, at: () => keyItemOf(account) };
}

function keyItemOf(account: number): Item {
  // All accounts have the same number of creations at the same times.
  const found = keyItems.get(0) ?? books.keyItem(0);
  keyItems.set(0, found);
  return { ...found, pk: `ACCOUNT#Bench${String(account).padStart(5, '0')}` };
}

function projected(item: Item, read: Read | undefined): Item {
  if (read?.ProjectionExpression === undefined) return item;
  const names = read.ProjectionExpression.split(', ').map(
    (name) => read.ExpressionAttributeNames?.[name] ?? name,
  );
  return Object.fromEntries(names.flatMap((name) => (name in item ? [[name, item[name]]] : [])));
}

const unitsOf = (bytes: number): number => Math.ceil(bytes / 4_096);
const bytesOf = (item: Item): number => JSON.stringify(item).length;

function itemOf(key: Item): Item | undefined {
  const pk = String(key['pk']);
  if (pk.startsWith('CREATION#')) return books.creationItem(pk.slice('CREATION#'.length));
  if (pk.startsWith('ACCOUNT#')) return books.accountItem(numberOf(pk));
  return kept.get(`${pk} ${String(key['sk'])}`);
}

function answerOf(operation: string, read: Read): object {
  switch (operation) {
    case 'Query': {
      const { count, start, at } = entriesOf(read, books);
      const end = Math.min(count, start + (read.Limit ?? 3_000));
      const places = Array.from({ length: Math.max(0, end - start) }, (_, place) => start + place);
      const items = places.map(at);
      const bytes = items.reduce((sum, item) => sum + bytesOf(item), 0);
      readUnits += Math.max(1, unitsOf(bytes)) / (read.IndexName === undefined ? 1 : 2);
      const last = items.at(-1);
      const { pk, sk, listing, listed } = last ?? {};
      return {
        Items: items.map((item) => marshall(projected(item, read))),
        Count: items.length,
        ...(last &&
          end < count && {
            LastEvaluatedKey: marshall({ pk, sk, ...(listed !== undefined && { listing, listed }) }),
          }),
      };
    }
    case 'BatchGetItem': {
      const [[name, wanted] = ['', undefined]] = Object.entries(read.RequestItems ?? {});
      const found = (wanted?.Keys ?? []).flatMap((key) => {
        const item = itemOf(unmarshall(key));
        return item ? [item] : [];
      });
      readUnits += found.reduce((sum, item) => sum + unitsOf(bytesOf(item)), 0);
      return {
        Responses: { [name]: found.map((item) => marshall(projected(item, wanted))) },
        UnprocessedKeys: {},
      };
    }
    case 'GetItem': {
      readUnits += 1;
      const item = itemOf(unmarshall(read.Key ?? {}));
      return item ? { Item: marshall(projected(item, read)) } : {};
    }
    case 'PutItem': {
      const item = unmarshall(read.Item ?? {});
      kept.set(`${item['pk']} ${item['sk']}`, item);
      return {};
    }
    default:
      throw new Error(`the audit must not call ${operation}`);
  }
}

const server = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    const operation = String(request.headers['x-amz-target']).split('.').at(-1) ?? '';
    const answer =
      request.url === '/units'
        ? { readUnits }
        : answerOf(operation, JSON.parse(Buffer.concat(parts).toString()) as Read);
    response.writeHead(200, { 'content-type': 'application/x-amz-json-1.0' });
    response.end(JSON.stringify(answer));
  });
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.send?.({ port: typeof address === 'object' ? address?.port : undefined });
});
