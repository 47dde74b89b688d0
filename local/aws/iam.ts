import * as z from 'zod';
import { localAccount } from './aws-call.ts';
import type { AwsCall } from './aws-call.ts';
import { AwsError } from './aws-error.ts';
import { neededGrants, type NeededGrant } from './needed-grants.ts';

type OneOrMore = string | readonly string[];

/** A statement of an identity policy. Its intrinsic functions are already resolved. */
export interface PolicyStatement {
  readonly Sid?: string | undefined;
  readonly Effect: 'Allow' | 'Deny';
  readonly Action?: OneOrMore | undefined;
  readonly NotAction?: OneOrMore | undefined;
  readonly Resource?: OneOrMore | undefined;
  readonly NotResource?: OneOrMore | undefined;
  readonly Condition?: Readonly<Record<string, unknown>> | undefined;
}

/** The caller that may do everything. It is the person at this machine. */
export const operator = 'operator';

/** Throws AccessDeniedException, in AWS's words, for a call that the caller's policies do not allow. */
export interface Authorizer {
  (call: AwsCall): void;
  /**
   * The grants that calls have used so far, as `caller action resource`. The operator's calls are not
   * included.
   */
  readonly usedGrants: () => ReadonlySet<string>;
}

type Decision = 'allowed' | 'denied' | 'not allowed';

/** The values of a call that conditions compare. */
type Facts = Pick<NeededGrant, 'leadingKeys'>;

/** Checks every call against the policies of the caller's role. A caller without policies may do nothing. */
export function createAuthorizer(policies: ReadonlyMap<string, readonly PolicyStatement[]>): Authorizer {
  const statements = new Map([...policies].map(([caller, list]) => [caller, list.map(compile)]));
  const coveringOf = new Map<string, readonly CompiledStatement[]>();
  const used = new Set<string>();

  function authorize(call: AwsCall): void {
    if (call.caller === operator) return;
    for (const { action, resource, ...facts } of neededGrants(call)) {
      const grant = `${call.caller} ${action} ${resource}`;
      const covering =
        coveringOf.get(grant) ??
        (statements.get(call.caller) ?? []).filter((statement) => statement.covers(action, resource));
      coveringOf.set(grant, covering);
      const decision = decide(covering, facts);
      if (decision !== 'allowed') throw accessDenied(call.caller, action, resource, decision);
      used.add(grant);
    }
  }
  return Object.assign(authorize, { usedGrants: (): ReadonlySet<string> => used });
}

interface CompiledStatement {
  readonly effect: PolicyStatement['Effect'];
  /** Whether the condition of the statement holds. Undefined: this check does not understand it. */
  readonly holds: (facts: Facts) => boolean | undefined;
  readonly covers: (action: string, resource: string) => boolean;
}

function compile(statement: PolicyStatement): CompiledStatement {
  const coversAction = matcher(statement.Action, statement.NotAction, 'i');
  const coversResource = matcher(statement.Resource, statement.NotResource, '');
  return {
    effect: statement.Effect,
    holds: conditionOf(statement.Condition),
    covers: (action, resource) => coversAction(action) && coversResource(resource),
  };
}

/** Understands one condition: the partition keys of the items are like one of these patterns. */
function conditionOf(condition: PolicyStatement['Condition']): CompiledStatement['holds'] {
  if (condition === undefined) return () => true;
  const parsed = leadingKeysSchema.safeParse(condition);
  if (!parsed.success) return () => undefined;
  const patterns = [parsed.data['ForAllValues:StringLike']['dynamodb:LeadingKeys']].flat();
  const likeOne = patterns.map((pattern) => wildcard(pattern, ''));
  // IAM lets a call without the key pass. Each write has one, and no read is granted by this condition.
  return ({ leadingKeys }) => leadingKeys?.every((key) => likeOne.some((pattern) => pattern.test(key)));
}

const leadingKeysSchema = z.strictObject({
  'ForAllValues:StringLike': z.strictObject({
    'dynamodb:LeadingKeys': z.union([z.string(), z.array(z.string())]),
  }),
});

function matcher(
  listed: OneOrMore | undefined,
  excluded: OneOrMore | undefined,
  flags: string,
): (text: string) => boolean {
  // A statement with neither list is not valid. It must not cover everything.
  if (listed === undefined && excluded === undefined) return () => false;
  const patterns = [listed ?? excluded ?? []].flat().map((pattern) => wildcard(pattern, flags));
  return (text) => patterns.some((pattern) => pattern.test(text)) === (listed !== undefined);
}

/** IAM's wildcards: `*` stands for any text, `?` for one character. */
function wildcard(pattern: string, flags: string): RegExp {
  const source = pattern
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${source}$`, flags);
}

/**
 * Decides as IAM does: an explicit denial wins. A statement whose condition this check does not understand never
 * allows and always denies.
 */
function decide(covering: readonly CompiledStatement[], facts: Facts): Decision {
  const denies = ({ effect, holds }: CompiledStatement): boolean =>
    effect === 'Deny' && holds(facts) !== false;
  if (covering.some(denies)) return 'denied';
  return covering.some(({ holds }) => holds(facts) === true) ? 'allowed' : 'not allowed';
}

function accessDenied(caller: string, action: string, resource: string, decision: Decision): AwsError {
  const because =
    decision === 'denied'
      ? 'with an explicit deny in an identity-based policy'
      : `because no identity-based policy allows the ${action} action`;
  return new AwsError(
    'AccessDeniedException',
    `User: arn:aws:sts::${localAccount}:assumed-role/${caller} is not authorized to perform: ${action} on resource: ${resource} ${because}`,
  );
}
