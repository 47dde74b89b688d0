import { Duration } from 'aws-cdk-lib';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as LambdaTarget } from 'aws-cdk-lib/aws-events-targets';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';

export interface BooksAuditProps {
  readonly auditBooks: LambdaFunction;
}

/** Starts the audit of the books once a day. */
export class BooksAudit extends Construct {
  constructor(scope: Construct, id: string, { auditBooks }: BooksAuditProps) {
    super(scope, id);
    new Rule(this, 'EveryDay', {
      description: 'Darkroom: holds every balance against the ledger',
      schedule: Schedule.rate(Duration.days(1)),
      targets: [new LambdaTarget(auditBooks)],
    });
  }
}
