/** Which accounts get the sandbox, and which directives only accounts marked by the operator may use. */
import type { Account } from '../accounts/account.ts';
import type { SandboxSetting } from '../contract/sandbox.ts';
import type { FieldError } from '../values/problem.ts';
import type { Route } from './catalog-schema.ts';
import { isSandbox } from './providers.ts';

/** The account with the models that a deployment with this setting sells to it. */
export function asOffered(account: Account, setting: SandboxSetting): Account {
  const isOffered = setting === 'on' || (setting === 'marked' && account.sandbox === true);
  return isOffered ? account : { ...account, policy: { ...account.policy, withoutSandbox: true } };
}

/** A directive of the sandbox anywhere in a prompt: its name, and its value if it has one. */
export const directiveForm = /\[sandbox:([a-z-]+)(?:=([^\]]*))?\]/g;

/** The directives that keep a renderer from its work. */
const stalling: ReadonlySet<string> = new Set(['hang', 'crash', 'delay', 'async']);

/** The error for directives in a prompt that this account may not use at one of these routes. */
export function directiveProblems(
  prompt: string | null,
  routes: readonly Pick<Route, 'provider'>[],
  { sandbox }: Pick<Account, 'sandbox'>,
): readonly FieldError[] {
  if (sandbox === true || !routes.some(({ provider }) => isSandbox(provider))) return [];
  const found = [...(prompt ?? '').matchAll(directiveForm)].find(([, name = '']) => stalling.has(name));
  if (!found) return [];
  const message = `[sandbox:${found[1] ?? ''}] works only for an account that the operator has marked for the sandbox`;
  return [{ field: 'prompt', code: 'invalid_value', message }];
}
