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
        'Refunds need several tries, at last by the reconciler. Customers get their money seconds or minutes later.',
      remedy:
        'Read the log of RefundCharge. refund_busy means a busy table. Any other error is a fault of the service.',
    },
    RefundNotMade: {
      // The reconciler tries once a minute, so three are a charge that stays, or three customers.
      metric: metrics.alarms('refund_not_made'),
      threshold: 3,
      meaning:
        'Neither the execution nor the reconciler could refund a charge, because of conflicts or a busy table. The refund is tried every minute.',
      remedy:
        'Look for throttles of the table, and for one account that sends very many requests. If this lasts, run creations refund.',
    },
    BooksOutOfBalance: {
      // The audit runs once a day, and the alarm keeps its state until the next audit.
      metric: metrics.of('BooksOutOfBalance', { statistic: Stats.MAXIMUM }),
      threshold: 1,
      missing: TreatMissingData.IGNORE,
      meaning:
        'A balance, the month of a key, or a creation does not agree with the ledger. A customer may have been charged wrongly.',
      remedy:
        'Run audit --account for the account that the log names. Understand the difference first, then correct it with wallet adjust and a reason. The alarm ends with the next audit that finds no difference.',
    },
    AuditFailing: {
      // Lambda repeats a failed run twice.
      metric: auditBooks.metricErrors(oneHour),
      threshold: 3,
      meaning:
        'Customers notice nothing, but nobody may know today whether the books balance. Lambda repeats a failed run twice.',
      remedy:
        'Read the log of AuditBooks, then run the command audit. The next start goes on where the progress was stored.',
    },
    AuditOverdue: {
      // CloudWatch looks back seven days at most when a period is an hour, and one day when it is shorter.
      metric: metrics.of('AuditFinished', oneHour),
      threshold: 1,
      comparison: ComparisonOperator.LESS_THAN_THRESHOLD,
      periods: 26,
      missing: TreatMissingData.BREACHING,
      meaning:
        'Customers notice nothing, but no audit has ended for 26 h, so nobody knows whether the books balance.',
      remedy:
        'Check that the rule of the audit is enabled, and read the log of AuditBooks. Then run the command audit. A new stack is in this state until its first audit has ended.',
    },
  };
}
