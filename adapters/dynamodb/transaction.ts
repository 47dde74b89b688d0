import {
  TransactionCanceledException,
  type CancellationReason,
  type TransactWriteItemsCommandOutput,
} from '@aws-sdk/client-dynamodb';
import { TransactWriteCommand, type TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { backoffMillis, isExhausted } from './backoff.ts';
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
   * Conflicts or throttling outlasted the tries, or the time of the request is used up. Nothing was
   * written, unless it is unclear: then the answer to a try was lost, and no later try could tell
   * whether the lost one had written.
   */
  | { readonly kind: 'overloaded'; readonly unclear: boolean };

/**
 * One transaction, sent again with the identical request and token while others hold
 * its items. Throws when the outcome stays unknown (the connection broke, a 5xx, a try that may still arrive).
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
        // A try that nobody waits for any more may arrive later, and find its conditions true by then.
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

/**
 * Tells of each exchange whose outcome nobody knows, those that the SDK retries by itself
 * included: only the error of its last try comes out of send().
 */
function notice(
  command: TransactWriteCommand,
  signal: AbortSignal | undefined,
  lost: (error: unknown) => void,
): void {
  command.middlewareStack.add(
    (next) => async (args) => {
      // Behind an abort the SDK's handler sends nothing more.
      const isSent = !isOver(signal);
      try {
        return await next(args);
      } catch (error) {
        if (isSent && !isRefusal(error)) lost(error);
        throw error;
      }
    },
    // lib-dynamodb puts the command's stack into the call twice, which a name would refuse.
    { step: 'deserialize', priority: 'high', name: 'noticeLostAnswers', override: true },
  );
}

/** Asked anew after each wait: the compiler believes what was true before the wait. */
function isOver(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

/** The time limit of a try (call-limits.ts): the connection was given up, and not broken by the other side. */
function isTimeOut(error: unknown): boolean {
  return (error as { readonly code?: unknown }).code === 'ETIMEDOUT';
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
