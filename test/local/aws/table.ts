import type { CreateTableCommandInput } from '@aws-sdk/client-dynamodb';

/** The table of most tests. It has the keys pk and sk, an index of open work, and a time to live. */
export const tableDefinition = {
  TableName: 'Main',
  BillingMode: 'PAY_PER_REQUEST',
  DeletionProtectionEnabled: true,
  AttributeDefinitions: [
    { AttributeName: 'pk', AttributeType: 'S' },
    { AttributeName: 'sk', AttributeType: 'S' },
    { AttributeName: 'work', AttributeType: 'S' },
    { AttributeName: 'due_at', AttributeType: 'N' },
  ],
  KeySchema: [
    { AttributeName: 'pk', KeyType: 'HASH' },
    { AttributeName: 'sk', KeyType: 'RANGE' },
  ],
  GlobalSecondaryIndexes: [
    {
      IndexName: 'open-work',
      KeySchema: [
        { AttributeName: 'work', KeyType: 'HASH' },
        { AttributeName: 'due_at', KeyType: 'RANGE' },
      ],
      Projection: { ProjectionType: 'KEYS_ONLY' },
      OnDemandThroughput: { MaxReadRequestUnits: 100, MaxWriteRequestUnits: 100 },
    },
  ],
} satisfies CreateTableCommandInput;
