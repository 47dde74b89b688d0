import {
  type CancellationReason,
  TransactionCanceledException,
  type TransactWriteItemsCommandOutput,
} from '@aws-sdk/client-dynamodb';
import { TransactWriteCommand, type TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { backoffMillis, isExhausted, isRefusal, isShed } from './send.ts';
import type { Item, Table } from './table.ts';

export type TransactItem = NonNullable<TransactWriteCommandInput['TransactItems']>[number];

/** Writes an item that the table does not hold yet. */
export function toPutNew(table: Table, item: Item): TransactItem {
  return { Put: { TableName: table.name, Item: item, ConditionExpression: 'attribute_not_exists(pk)' } };
}

/** Why DynamoDB refused one item of a transaction. Undefined: the item's condition held. */
export type Refusal = { readonly item: Item | undefined } | undefined;

export type TransactionOutcome =
  | { readonly kind: 'done' }
  /** At least one condition failed. There is an entry for each item, in the order of the items. */
  | { readonly kind: 'refused'; readonly refusals: readonly Refusal[] }
  /** Busy through all tries, or out of time. Nothing was written, unless `unclear`: an answer was lost. */
  | { readonly kind: 'overloaded'; readonly unclear: boolean };

/**
 * Sends one transaction, and sends it again, with the same request and token, while other transactions hold
 * its items.
 * @throws when the outcome stays unknown: after a broken connection, after a 5xx, or when an earlier try may
 *   still arrive at DynamoDB
 */
export async function transact(
  table: Table,
  items: readonly TransactItem[],
  token?: string,
): Promise<TransactionOutcome> {
  const lost = { some: false, inTime: true };
  const begun = table.clock.elapsed();
  const { signal } = table;
  const command = (): TransactWriteCommand => {
    const sent = new TransactWriteCommand({
      TransactItems: [...items],
      ...(token !== undefined && { ClientRequestToken: token }),
    });
    notice(sent, signal, (error) => {
      lost.some = true;
      if (isTimeOut(error)) lost.inTime = false;
    });
    return sent;
  };
  for (let attempt = 1; ; attempt += 1) {
    if (isOver(signal)) return { kind: 'overloaded', unclear: lost.some };
    try {
      await table.client.send<TransactWriteCommandInput, TransactWriteItemsCommandOutput>(
        command(),
        signal ? { abortSignal: signal } : {},
      );
      return { kind: 'done' };
    } catch (error) {
      if (isOver(signal)) return { kind: 'overloaded', unclear: lost.some };
      const reasons =
        error instanceof TransactionCanceledException ? (error.CancellationReasons ?? []) : undefined;
      if (reasons?.some((reason) => reason.Code === 'ConditionalCheckFailed')) {
        // The earlier try, which was abandoned, may arrive later and find its conditions true.
        if (!lost.inTime)
          throw new Error('a try got no answer in time and may still be carried out', { cause: error });
        return { kind: 'refused', refusals: reasons.map(refusalOf) };
      }
      if (reasons ? !reasons.every(clearsByItself) : !isShed(error)) throw error;
      if (reasons?.some((reason) => reason.Code === 'TransactionConflict')) table.onConflict?.(token);
      if (isExhausted(table, begun, attempt)) return { kind: 'overloaded', unclear: lost.some };
      await table.clock.sleep(backoffMillis(table, attempt));
    }
  }
}

/** Calls `lost` for each exchange of unknown outcome, also for those that the SDK retries itself. */
function notice(
  command: TransactWriteCommand,
  signal: AbortSignal | undefined,
  lost: (error: unknown) => void,
): void {
  command.middlewareStack.add(
    (next) => async (args) => {
      // After an abort the SDK's handler sends nothing more.
      const isSent = !isOver(signal);
      try {
        return await next(args);
      } catch (error) {
        if (isSent && !isRefusal(error)) lost(error);
        throw error;
      }
    },
    // lib-dynamodb adds the command's middleware to a call twice. Without `override`, the second time fails.
    { step: 'deserialize', priority: 'high', name: 'noticeLostAnswers', override: true },
  );
}

/** A function, because the compiler would assume that `aborted` cannot change during an await. */
function isOver(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

/** Whether we gave up the connection after our own time limit (call-limits.ts). DynamoDB did not break it. */
function isTimeOut(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ETIMEDOUT';
}

function refusalOf(reason: CancellationReason): Refusal {
  if (reason.Code !== 'ConditionalCheckFailed') return undefined;
  return { item: reason.Item ? unmarshall(reason.Item) : undefined };
}

function clearsByItself(reason: CancellationReason): boolean {
  const passing = ['None', 'TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded'];
  return reason.Code === undefined || passing.includes(reason.Code);
}
