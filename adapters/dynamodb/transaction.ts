import {
  TransactionCanceledException,
  type CancellationReason,
  type TransactWriteItemsCommandOutput,
} from '@aws-sdk/client-dynamodb';
import { TransactWriteCommand, type TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { Item, Table } from './table.ts';

export type TransactItem = NonNullable<TransactWriteCommandInput['TransactItems']>[number];

/** What one item of a cancelled transaction said: undefined when its condition held. */
export type Refusal = { readonly item: Item | undefined } | undefined;

export type TransactionOutcome =
  | { readonly kind: 'done' }
  /** At least one condition failed; a refusal for each item, in their order. */
  | { readonly kind: 'refused'; readonly refusals: readonly Refusal[] }
  /** Conflicts or throttling outlasted the tries; nothing was written. */
  | { readonly kind: 'overloaded' };

const tries = 6;
const firstBackoffMillis = 15;
const longestBackoffMillis = 400;

/** Errors by which DynamoDB says that it wrote nothing and may be asked again. */
const shed = new Set([
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'ThrottlingException',
  'TransactionInProgressException',
]);

/**
 * One transaction, sent again with the identical request and token while others hold
 * its items. Throws when the outcome stays unknown (the connection broke, a 5xx).
 */
export async function transact(table: Table, items: readonly TransactItem[], token?: string): Promise<TransactionOutcome> {
  const command = (): TransactWriteCommand =>
    new TransactWriteCommand({ TransactItems: [...items], ...(token !== undefined && { ClientRequestToken: token }) });
  for (let attempt = 1; ; attempt += 1) {
    try {
      await table.client.send<TransactWriteCommandInput, TransactWriteItemsCommandOutput>(command());
      return { kind: 'done' };
    } catch (error) {
      const reasons = error instanceof TransactionCanceledException ? (error.CancellationReasons ?? []) : undefined;
      if (reasons?.some((reason) => reason.Code === 'ConditionalCheckFailed')) {
        return { kind: 'refused', refusals: reasons.map(refusalOf) };
      }
      if (reasons ? !reasons.every(clearsByItself) : !(error instanceof Error && shed.has(error.name))) throw error;
      if (attempt === tries) return { kind: 'overloaded' };
      await table.clock.sleep(backoffMillis(table, attempt));
    }
  }
}

function refusalOf(reason: CancellationReason): Refusal {
  if (reason.Code !== 'ConditionalCheckFailed') return undefined;
  return { item: reason.Item ? unmarshall(reason.Item) : undefined };
}

function clearsByItself(reason: CancellationReason): boolean {
  const passing = ['None', 'TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded'];
  return reason.Code === undefined || passing.includes(reason.Code);
}

/** Full jitter: of two requests that collided, at most one should come back at the same instant. */
function backoffMillis(table: Table, attempt: number): number {
  const most = Math.min(longestBackoffMillis, firstBackoffMillis * 2 ** attempt);
  return 1 + ((table.randomBytes(1)[0] ?? 0) / 256) * most;
}
