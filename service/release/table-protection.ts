/** Two calls of DynamoDB that need only a signer, and no client of the SDK. */
import { type AwsPlace, serviceUrl } from '../aws/aws-place.ts';
import { createSignedFetch, type SigningKeys } from '../aws/signed-fetch.ts';
import { awsErrorName } from '../values/errors.ts';
import type { Clock } from '../values/runtime.ts';

export interface TableProtectionAccess extends AwsPlace, SigningKeys {
  readonly clock: Pick<Clock, 'now' | 'sleep' | 'timeout'>;
}

const callMillis = 20_000;
/** How often a call is retried after a 5xx. The pauses grow. */
const retries = 4;

interface Described {
  readonly DeletionProtectionEnabled?: boolean;
}

/** The table or the account has a change under way, and takes this one later. */
const busyErrors = new Set(['ResourceInUseException', 'LimitExceededException', 'ThrottlingException']);

class Busy extends Error {}

export function createTableProtection({ clock, ...access }: TableProtectionAccess) {
  const send = createSignedFetch({ ...access, clock, service: 'dynamodb', retries });
  const url = `${serviceUrl('dynamodb', access)}/`;

  /** @param member the member of the answer that describes the table */
  async function call(operation: string, input: object, member: string): Promise<Described> {
    const limit = clock.timeout(callMillis);
    try {
      const response = await send(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/x-amz-json-1.0',
          'x-amz-target': `DynamoDB_20120810.${operation}`,
        },
        body: JSON.stringify(input),
        signal: limit.signal,
      });
      const text = await response.text();
      if (response.ok) return (JSON.parse(text) as Readonly<Record<string, Described>>)[member] ?? {};
      const name = awsErrorName(text);
      if (busyErrors.has(name)) throw new Busy(name);
      throw new Error(`DynamoDB answered ${response.status} ${name} to ${operation}`);
    } finally {
      limit.release();
    }
  }

  return {
    /** Switches the protection on. 'busy': DynamoDB changes the table now, so try later. Throws otherwise. */
    protect: async (TableName: string): Promise<'protected' | 'busy'> => {
      try {
        const before = await call('DescribeTable', { TableName }, 'Table');
        if (before.DeletionProtectionEnabled === true) return 'protected';
        const input = { TableName, DeletionProtectionEnabled: true };
        const after = await call('UpdateTable', input, 'TableDescription');
        if (after.DeletionProtectionEnabled === true) return 'protected';
        throw new Error('DynamoDB took UpdateTable and left the protection off');
      } catch (error) {
        if (error instanceof Busy) return 'busy';
        throw error;
      }
    },
  };
}

export type TableProtection = ReturnType<typeof createTableProtection>;
