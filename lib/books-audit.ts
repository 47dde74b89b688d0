import { Duration } from 'aws-cdk-lib';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as LambdaTarget } from 'aws-cdk-lib/aws-events-targets';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';

export interface BooksAuditProps {
  readonly auditBooks: LambdaFunction;
}

/**
 * Starts the audit of the books. The function begins one run a day, and each further start continues with a
 * run that is not finished.
 */
export class BooksAudit extends Construct {
  constructor(scope: Construct, id: string, { auditBooks }: BooksAuditProps) {
    super(scope, id);
    new Rule(this, 'EveryQuarter', {
      description: 'Darkroom: holds every balance against the ledger, in one run a day',
      schedule: Schedule.rate(Duration.minutes(15)),
      targets: [new LambdaTarget(auditBooks)],
    });
  }
}
