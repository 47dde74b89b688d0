import { localAccount } from './aws-call.ts';
import type { AwsCall } from './aws-call.ts';
import { AwsError } from './aws-error.ts';
import { neededGrants } from './needed-grants.ts';

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

/** Checks every call against the policies of the caller's role. A caller without policies may do nothing. */
export function createAuthorizer(policies: ReadonlyMap<string, readonly PolicyStatement[]>): Authorizer {
  const statements = new Map([...policies].map(([caller, list]) => [caller, list.map(compile)]));
  const decisions = new Map<string, Decision>();
  const used = new Set<string>();

  function authorize(call: AwsCall): void {
    if (call.caller === operator) return;
    for (const { action, resource } of neededGrants(call)) {
      const grant = `${call.caller} ${action} ${resource}`;
      let decision = decisions.get(grant);
      if (decision === undefined) {
        decision = decide(statements.get(call.caller) ?? [], action, resource);
        decisions.set(grant, decision);
      }
      if (decision !== 'allowed') throw accessDenied(call.caller, action, resource, decision);
      used.add(grant);
    }
  }
  return Object.assign(authorize, { usedGrants: (): ReadonlySet<string> => used });
}

interface CompiledStatement {
  readonly effect: PolicyStatement['Effect'];
  readonly conditional: boolean;
  readonly covers: (action: string, resource: string) => boolean;
}

function compile(statement: PolicyStatement): CompiledStatement {
  const coversAction = matcher(statement.Action, statement.NotAction, 'i');
  const coversResource = matcher(statement.Resource, statement.NotResource, '');
  return {
    effect: statement.Effect,
    conditional: statement.Condition !== undefined,
    covers: (action, resource) => coversAction(action) && coversResource(resource),
  };
}

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
 * Decides as IAM does: an explicit denial wins. Conditions are not evaluated, so a conditional statement
 * never allows and always denies.
 */
function decide(statements: readonly CompiledStatement[], action: string, resource: string): Decision {
  const covering = statements.filter((statement) => statement.covers(action, resource));
  if (covering.some((statement) => statement.effect === 'Deny')) return 'denied';
  return covering.some((statement) => !statement.conditional) ? 'allowed' : 'not allowed';
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
