/** The definitions of tables, and their descriptions. */
import * as z from 'zod';
import { invalid } from '../refusals.ts';
import type { IndexDefinition, TableDefinition } from '../storage.ts';
import type { Table } from '../table.ts';
import { requireTableName, textOf, type Input } from '../validation/values.ts';

const keyElements = z.array(z.object({ AttributeName: z.string(), KeyType: z.enum(['HASH', 'RANGE']) }));
const indexes = z.array(
  z.object({
    IndexName: z.string(),
    KeySchema: keyElements,
    Projection: z.object({
      ProjectionType: z.enum(['ALL', 'KEYS_ONLY', 'INCLUDE']).exactOptional(),
      NonKeyAttributes: z.array(z.string()).exactOptional(),
    }),
  }),
);
const creation = z.object({
  AttributeDefinitions: z
    .array(z.object({ AttributeName: z.string(), AttributeType: z.enum(['S', 'N', 'B']) }))
    .default([]),
  KeySchema: keyElements.default([]),
  GlobalSecondaryIndexes: indexes.default([]),
});

export function readTableDefinition(input: Input, nowMillis: number): TableDefinition {
  const TableName = requireTableName(textOf(input, 'TableName'));
  if (input['LocalSecondaryIndexes'] !== undefined)
    throw invalid('The local DynamoDB has no local secondary indexes');
  const parsed = creation.safeParse(input);
  if (!parsed.success) throw invalid(`CreateTable: ${z.prettifyError(parsed.error)}`);
  const { AttributeDefinitions, KeySchema, GlobalSecondaryIndexes } = parsed.data;
  if (KeySchema.length === 0)
    throw invalid(
      'No defined key schema.  A key schema containing at least a hash key must be defined for all tables',
    );
  const keys = [KeySchema, ...GlobalSecondaryIndexes.map((index) => index.KeySchema)];
  for (const key of keys) checkKeySchema(key, AttributeDefinitions);
  const used = new Set(keys.flat().map(({ AttributeName }) => AttributeName));
  if (used.size !== AttributeDefinitions.length)
    throw invalid(
      'The number of attributes in key schema must match the number of attributes defined in attribute definitions.',
    );
  const names = GlobalSecondaryIndexes.map(({ IndexName }) => requireTableName(IndexName));
  if (new Set(names).size < names.length)
    throw invalid('One or more parameter values were invalid: Duplicate index name');
  return { TableName, AttributeDefinitions, KeySchema, GlobalSecondaryIndexes, createdAtMillis: nowMillis };
}

function checkKeySchema(
  key: z.output<typeof keyElements>,
  attributes: TableDefinition['AttributeDefinitions'],
): void {
  const [hash, range, ...more] = key;
  if (hash?.KeyType !== 'HASH' || (range !== undefined && range.KeyType !== 'RANGE') || more.length > 0)
    throw invalid('Invalid KeySchema: The first KeySchemaElement is not a HASH key type');
  for (const { AttributeName } of key)
    if (!attributes.some((one) => one.AttributeName === AttributeName))
      throw invalid('Hash Key not specified in Attribute Definitions.  Type unknown.');
}

function arnOf(table: string): string {
  return `arn:aws:dynamodb:us-east-1:000000000000:table/${table}`;
}

/** The member `Table` of a DescribeTable. */
export function describeTable({ definition, size, indexes: known }: Table): Record<string, unknown> {
  const { TableName, AttributeDefinitions, KeySchema, GlobalSecondaryIndexes, restored } = definition;
  const arn = arnOf(TableName);
  return {
    AttributeDefinitions,
    TableName,
    KeySchema,
    TableStatus: 'ACTIVE',
    CreationDateTime: definition.createdAtMillis / 1000,
    TableArn: arn,
    ItemCount: size(),
    BillingModeSummary: { BillingMode: 'PAY_PER_REQUEST' },
    ...(restored && {
      RestoreSummary: {
        SourceTableArn: arnOf(restored.from),
        RestoreDateTime: restored.atMillis / 1000,
        RestoreInProgress: false,
      },
    }),
    ...(known.size > 0 && {
      GlobalSecondaryIndexes: GlobalSecondaryIndexes.map((index: IndexDefinition) => ({
        ...index,
        IndexStatus: 'ACTIVE',
        IndexArn: `${arn}/index/${index.IndexName}`,
      })),
    }),
  };
}

const timeToLive = z.object({ AttributeName: z.string().min(1), Enabled: z.boolean() });

export function withTimeToLive(definition: TableDefinition, input: Input): TableDefinition {
  const wanted = input['TimeToLiveSpecification'];
  if (wanted === undefined || wanted === null) throw invalid('TimeToLiveSpecification cannot be null');
  const parsed = timeToLive.safeParse(wanted);
  if (!parsed.success) throw invalid(`TimeToLiveSpecification: ${z.prettifyError(parsed.error)}`);
  const present = definition.timeToLive;
  const isOn = present?.Enabled === true;
  if (isOn && present.AttributeName !== parsed.data.AttributeName)
    throw invalid('TimeToLive is active on a different AttributeName');
  if (isOn === parsed.data.Enabled) throw invalid(`TimeToLive is already ${isOn ? 'enabled' : 'disabled'}`);
  return { ...definition, timeToLive: parsed.data };
}
