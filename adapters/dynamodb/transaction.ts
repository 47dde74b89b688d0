import {
  TransactionCanceledException,
  type CancellationReason,
  type TransactWriteItemsCommandOutput,
} from '@aws-sdk/client-dynamodb';
import { TransactWriteCommand, type TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { isShed } from './shed.ts';
import type { Item, Table } from './table.ts';

export type TransactItem = NonNullable<TransactWriteCommandInput['TransactItems']>[number];

/** What one item of a cancelled transaction said: undefined when its condition held. */
export type Refusal = { readonly item: Item | undefined } | undefined;

export type TransactionOutcome =
  | { readonly kind: 'done' }
  /** At least one condition failed; a refusal for each item, in their order. */
  | { readonly kind: 'refused'; readonly refusals: readonly Refusal[] }
  /**
   * Conflicts or throttling outlasted the tries. Nothing was written, unless it is unclear: then
   * the answer to a try was lost, and the later ones, shed, could not tell whether it had written.
   */
  | { readonly kind: 'overloaded'; readonly unclear: boolean };

const tries = 6;
/** The SDK retries throttling by itself, with pauses of seconds: six tries of it would outlast the gateway's 30 s. */
const longestTryingMillis = 4_000;
const firstBackoffMillis = 15;
const longestBackoffMillis = 400;

/**
 * One transaction, sent again with the identical request and token while others hold
 * its items. Throws when the outcome stays unknown (the connection broke, a 5xx).
 */
export async function transact(table: Table, items: readonly TransactItem[], token?: string): Promise<TransactionOutcome> {
  let unclear = false;
  const begun = table.clock.elapsed();
  const command = (): TransactWriteCommand => {
    const sent = new TransactWriteCommand({ TransactItems: [...items], ...(token !== undefined && { ClientRequestToken: token }) });
    notice(sent, () => (unclear = true));
    return sent;
  };
  for (let attempt = 1; ; attempt += 1) {
    try {
      await table.client.send<TransactWriteCommandInput, TransactWriteItemsCommandOutput>(command());
      return { kind: 'done' };
    } catch (error) {
      const reasons = error instanceof TransactionCanceledException ? (error.CancellationReasons ?? []) : undefined;
      if (reasons?.some((reason) => reason.Code === 'ConditionalCheckFailed')) {
        return { kind: 'refused', refusals: reasons.map(refusalOf) };
      }
      if (reasons ? !reasons.every(clearsByItself) : !isShed(error)) throw error;
      if (reasons?.some((reason) => reason.Code === 'TransactionConflict')) table.onConflict?.(token);
      if (attempt === tries || table.clock.elapsed() - begun > longestTryingMillis) return { kind: 'overloaded', unclear };
      await table.clock.sleep(backoffMillis(table, attempt));
    }
  }
}

/**
 * Tells of each exchange whose outcome nobody knows, those that the SDK retries by itself
 * included: only the error of its last try comes out of send().
 */
function notice(command: TransactWriteCommand, lost: () => void): void {
  command.middlewareStack.add(
    (next) => async (args) => {
      try {
        return await next(args);
      } catch (error) {
        if (!isRefusal(error)) lost();
        throw error;
      }
    },
    // lib-dynamodb puts the command's stack into the call twice, which a name would refuse.
    { step: 'deserialize', priority: 'high', name: 'noticeLostAnswers', override: true },
  );
}

/** A 4xx: DynamoDB read the request and says that it wrote nothing. */
function isRefusal(error: unknown): boolean {
  const status = (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
  return status !== undefined && status >= 400 && status < 500;
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
