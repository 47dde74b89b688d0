/** What a resource may do, and why rules of cdk-nag do not apply to it. */
import { type CfnElement, Stack, Validations } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IConstruct } from 'constructs';

/** A rule of AwsSolutions (cdk-nag): "AwsSolutions-S1", or one finding of it: "AwsSolutions-IAM5[Resource::*]". */
type NagRule = `AwsSolutions-${string}`;

/** The logical id of a construct's resource, by which a finding names it: "ImagesBucket4B6DB8E1". */
export function logicalIdOf(construct: IConstruct): string {
  return Stack.of(construct).getLogicalId(construct.node.defaultChild as CfnElement);
}

/**
 * Returns the reason why a rule of cdk-nag does not apply to a construct. The reason holds for
 * the construct and its children, and not for the rest of the stack.
 */
export function acknowledge(construct: IConstruct, reasons: Readonly<Record<NagRule, string>>): void {
  Validations.of(construct).acknowledge(...Object.entries(reasons).map(([id, reason]) => ({ id, reason })));
}

/** Lets a function or a state machine do these actions with these resources. */
export function allow(
  who: { addToRolePolicy(statement: PolicyStatement): void },
  actions: string[],
  resources: string[],
): void {
  who.addToRolePolicy(new PolicyStatement({ actions, resources }));
}

/** Why a role may send traces as "*". */
export const tracesKnowNoResource: Readonly<Record<NagRule, string>> = {
  'AwsSolutions-IAM5[Resource::*]':
    'The actions that send traces know no resource (Service Authorization Reference, AWS X-Ray).',
};
