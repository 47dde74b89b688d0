import { RemovalPolicy, Stack } from 'aws-cdk-lib';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';

/**
 * The log of a state machine. Every log group under /aws/vendedlogs/ shares one entry of the account's resource policy
 * of CloudWatch Logs. The policy takes 5,120 characters, and Step Functions refuses a machine when it is full.
 */
export function executionLog(scope: Construct, id: string, name: string, retention: RetentionDays): LogGroup {
  return new LogGroup(scope, id, {
    logGroupName: `/aws/vendedlogs/states/${Stack.of(scope).stackName}-${name}`,
    retention,
    removalPolicy: RemovalPolicy.DESTROY,
  });
}
