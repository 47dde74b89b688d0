/** The alarms of money and of the audit: rows of alarm-table.ts. */
import { ComparisonOperator, Stats, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { fiveMinutes, oneHour, share, type AlarmDefinition, type Watched } from './alarm-definition.ts';

export function moneyAlarms({
  metrics,
  refundCharge,
  auditBooks,
}: Watched): Readonly<Record<string, AlarmDefinition>> {
  return {
    RefundsFailing: {
      ...share({
        bad: [refundCharge.metricErrors(fiveMinutes)],
        of: [refundCharge.metricInvocations(fiveMinutes)],
        percent: 20,
        least: 5,
      }),
      meaning:
        'Customers wait for their money: tries to refund fail. Each is repeated, at last by the reconciler.',
      remedy: 'Read the log of RefundCharge; look for throttles of the table.',
    },
    RefundNotMade: {
      // The reconciler tries once a minute, so three are a charge that stays, or three customers.
      metric: metrics.alarms('refund_not_made'),
      threshold: 3,
      meaning:
        'A customer’s charge could be given back neither by the execution nor by the reconciler; it tries each minute.',
      remedy: 'Look for throttles of the table; refund the creation by hand if it lasts.',
    },
    BooksOutOfBalance: {
      // The audit runs once a day, and the alarm keeps its state until the next audit.
      metric: metrics.of('BooksOutOfBalance', { statistic: Stats.MAXIMUM }),
      threshold: 1,
      missing: TreatMissingData.IGNORE,
      meaning: 'A customer’s balance, or a creation, does not agree with the ledger.',
      remedy: 'Run the audit for the account that the log names; correct by an adjustment with its reason.',
    },
    AuditFailing: {
      // Lambda repeats a failed run twice.
      metric: auditBooks.metricErrors(oneHour),
      threshold: 3,
      meaning: 'No customer notices; whether the books balance may not be known today.',
      remedy: 'Read the log of AuditBooks; run the audit by hand.',
    },
    AuditOverdue: {
      // CloudWatch looks back seven days at most when a period is an hour, and one day when it is shorter.
      metric: metrics.of('AuditFinished', oneHour),
      threshold: 1,
      comparison: ComparisonOperator.LESS_THAN_THRESHOLD,
      periods: 26,
      missing: TreatMissingData.BREACHING,
      meaning: 'No customer notices; nobody has known for more than a day whether the books balance.',
      remedy:
        'Check the rule of the audit and the log of AuditBooks; run the audit by hand. A new stack is in this state until its first audit has ended.',
    },
  };
}
