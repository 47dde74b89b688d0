import { Stack, Validations, type CfnElement } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';

/** A rule of AwsSolutions (cdk-nag): "AwsSolutions-S1", or one finding of it: "AwsSolutions-IAM5[Resource::*]". */
export type NagRule = `AwsSolutions-${string}`;

/** As a finding names a resource: "<ImagesBucket4B6DB8E1.Arn>". */
export function logicalIdOf(construct: IConstruct): string {
  return Stack.of(construct).getLogicalId(construct.node.defaultChild as CfnElement);
}

/**
 * Says beside a resource why a rule does not bind it. It holds for this construct and
 * what is inside of it, and for nothing else of the stack.
 */
export function acknowledge(construct: IConstruct, reasons: Readonly<Record<NagRule, string>>): void {
  Validations.of(construct).acknowledge(...Object.entries(reasons).map(([id, reason]) => ({ id, reason })));
}
