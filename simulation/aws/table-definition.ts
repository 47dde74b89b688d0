import { listingIndex, openWorkIndex } from '../../adapters/dynamodb/table.ts';

const key = (
  AttributeName: string,
  KeyType: 'HASH' | 'RANGE',
): { AttributeName: string; KeyType: 'HASH' | 'RANGE' } => ({ AttributeName, KeyType });
const type = (
  AttributeName: string,
  AttributeType: 'S' | 'N',
): { AttributeName: string; AttributeType: 'S' | 'N' } => ({ AttributeName, AttributeType });

/** The input of CreateTable for the service's table, from the declaration in lib/. */
export function tableDefinition(TableName: string) {
  const index = ({ name, partition, sort }: typeof openWorkIndex | typeof listingIndex) => ({
    IndexName: name,
    KeySchema: [key(partition, 'HASH'), key(sort, 'RANGE')],
    Projection: { ProjectionType: 'KEYS_ONLY' as const },
  });
  return {
    TableName,
    BillingMode: 'PAY_PER_REQUEST' as const,
    AttributeDefinitions: [
      type('pk', 'S'),
      type('sk', 'S'),
      type('openShard', 'S'),
      type('dueAt', 'N'),
      type('listing', 'S'),
      type('listed', 'S'),
    ],
    KeySchema: [key('pk', 'HASH'), key('sk', 'RANGE')],
    GlobalSecondaryIndexes: [index(openWorkIndex), index(listingIndex)],
  };
}
