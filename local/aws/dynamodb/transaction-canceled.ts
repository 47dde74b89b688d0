import { AwsError } from '../aws-error.ts';

/**
 * The reason why one item of a transaction was refused. The code is `None` for an item that was not refused.
 */
export interface CancellationReason {
  readonly Code: string;
  readonly Message?: string;
  /** The item before the transaction, if ReturnValuesOnConditionCheckFailure asked for it. */
  readonly Item?: Readonly<Record<string, unknown>>;
}

/** The error of a cancelled transaction. It has one reason for each item, in the request's order. */
export function transactionCanceled(reasons: readonly CancellationReason[]): AwsError {
  const codes = reasons.map((reason) => reason.Code).join(', ');
  return new AwsError(
    'TransactionCanceledException',
    `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`,
    {
      fields: { CancellationReasons: reasons },
    },
  );
}
