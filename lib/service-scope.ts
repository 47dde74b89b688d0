/** Where the parts of a service put what they share: the stack of the service, or the construct in a foreign stack. */
import { CfnOutput, type CfnOutputProps, Names, Stack } from 'aws-cdk-lib';
import type { Construct, IConstruct } from 'constructs';

/** Each construct that is a whole service within a stack of others (lib/darkroom.ts). */
const embedded = new WeakSet<IConstruct>();

/** Says that the construct is a whole service within a stack of others. */
export function embed(service: Construct): void {
  embedded.add(service);
}

/** The embedded service that a construct is in. Otherwise its stack, which holds nothing but the service. */
function scopeOf(construct: IConstruct): Construct {
  const service = construct.node.scopes.find((scope) => embedded.has(scope));
  return service ?? Stack.of(construct);
}

/** With which the names of resources begin. 40 characters leave room for Cognito's prefix, which has 63. */
export function serviceName(construct: IConstruct): string {
  const scope = scopeOf(construct);
  if (Stack.isStack(scope)) return scope.stackName;
  return Names.uniqueResourceName(scope, { maxLength: 40, separator: '-' });
}

/**
 * Adds an output under its own name. In a stack of others the name begins with "Darkroom", by which the operator's
 * command knows the output.
 */
export function addOutput(construct: IConstruct, name: string, props: CfnOutputProps): void {
  const scope = scopeOf(construct);
  const output = new CfnOutput(scope, name, props);
  if (!Stack.isStack(scope)) output.overrideLogicalId(`Darkroom${name}`);
}
