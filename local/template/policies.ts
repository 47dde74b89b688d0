import * as z from 'zod';
import type { PolicyStatement } from '../aws/iam.ts';
import type { Resources } from './resources.ts';

const oneOrMore = z.union([z.string(), z.array(z.string())]).optional();
const statementSchema = z.strictObject({
  Sid: z.string().optional(),
  Effect: z.enum(['Allow', 'Deny']),
  Action: oneOrMore,
  NotAction: oneOrMore,
  Resource: oneOrMore,
  NotResource: oneOrMore,
  Condition: z.record(z.string(), z.unknown()).optional(),
});
const documentSchema = z.object({
  Statement: z.union([statementSchema.transform((one) => [one]), z.array(statementSchema)]),
});
const policySchema = z.object({ PolicyDocument: documentSchema, Roles: z.array(z.string()).default([]) });
const roleSchema = z.object({
  Policies: z.array(z.object({ PolicyDocument: documentSchema })).default([]),
  ManagedPolicyArns: z.array(z.string()).default([]),
});

/**
 * The policy statements of each role, by the role's logical id. A role without policies has an empty list.
 */
export function readPolicies(resources: Resources): ReadonlyMap<string, readonly PolicyStatement[]> {
  const policies = resources.of('AWS::IAM::Policy', policySchema);
  const managed = resources.of('AWS::IAM::ManagedPolicy', policySchema);
  const granted = new Map<string, PolicyStatement[]>();

  for (const { id, properties, unsupported } of resources.of('AWS::IAM::Role', roleSchema)) {
    const attached = properties.ManagedPolicyArns.flatMap((arn) => {
      // The template uses AWS's own policies only to let a function write its log. On one machine that needs
      // no grant.
      if (arn.startsWith('arn:aws:iam::aws:policy/')) return [];
      const policy = managed.find((one) => one.id === arn);
      if (policy === undefined) throw unsupported(`managed policy ${arn} is not of this template`);
      return policy.properties.PolicyDocument.Statement;
    });
    const inline = properties.Policies.flatMap((policy) => policy.PolicyDocument.Statement);
    granted.set(id, [...inline, ...attached]);
  }
  for (const { properties, unsupported } of [...policies, ...managed]) {
    for (const role of properties.Roles) {
      const statements = granted.get(role);
      if (statements === undefined) throw unsupported(`role ${role} is not of this template`);
      statements.push(...properties.PolicyDocument.Statement);
    }
  }
  return granted;
}
