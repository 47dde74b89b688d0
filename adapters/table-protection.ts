/** Two calls of DynamoDB that need only a signer, and no client of the SDK. */
import { AwsClient } from 'aws4fetch';
import * as z from 'zod';
import type { Clock } from '../core/ports/runtime.ts';
import type { TableProtection } from '../core/ports/table-protection.ts';

export interface TableProtectionAccess {
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  /** Replaces the address of DynamoDB in the region. */
  readonly endpoint?: string;
  readonly clock: Pick<Clock, 'timeout'>;
}

const callMillis = 20_000;
/** How often a call is retried after a 5xx. The pauses grow. */
const retries = 4;

const described = z.object({ DeletionProtectionEnabled: z.boolean().optional() });
const ofDescribe = z.object({ Table: described });
const ofUpdate = z.object({ TableDescription: described });
const refusal = z.object({ __type: z.string() });

/** The table or the account has a change under way, and takes this one later. */
const busyErrors = new Set(['ResourceInUseException', 'LimitExceededException', 'ThrottlingException']);

class Busy extends Error {}

export function createTableProtection({
  region,
  endpoint,
  clock,
  ...credentials
}: TableProtectionAccess): TableProtection {
  const client = new AwsClient({ ...credentials, service: 'dynamodb', region, retries });

  async function call<Schema extends z.ZodType>(
    operation: string,
    input: object,
    schema: Schema,
  ): Promise<z.output<Schema>> {
    const limit = clock.timeout(callMillis);
    try {
      const response = await client.fetch(endpoint ?? `https://dynamodb.${region}.amazonaws.com/`, {
        method: 'POST',
        headers: {
          'content-type': 'application/x-amz-json-1.0',
          'x-amz-target': `DynamoDB_20120810.${operation}`,
        },
        body: JSON.stringify(input),
        signal: limit.signal,
      });
      const text = await response.text();
      if (response.ok) return schema.parse(JSON.parse(text));
      const name = errorNameOf(text);
      if (busyErrors.has(name)) throw new Busy(name);
      throw new Error(`DynamoDB answered ${response.status} ${name} to ${operation}`);
    } finally {
      limit.release();
    }
  }

  return {
    protect: async (TableName) => {
      try {
        const { Table } = await call('DescribeTable', { TableName }, ofDescribe);
        if (Table.DeletionProtectionEnabled === true) return 'protected';
        const { TableDescription } = await call(
          'UpdateTable',
          { TableName, DeletionProtectionEnabled: true },
          ofUpdate,
        );
        if (TableDescription.DeletionProtectionEnabled === true) return 'protected';
        throw new Error('DynamoDB took UpdateTable and left the protection off');
      } catch (error) {
        if (error instanceof Busy) return 'busy';
        throw error;
      }
    },
  };
}

/** "com.amazonaws.dynamodb.v20120810#ResourceInUseException", without what stands before the name. */
function errorNameOf(text: string): string {
  try {
    return refusal.parse(JSON.parse(text)).__type.replace(/^.*#/, '');
  } catch {
    return 'without a name';
  }
}
