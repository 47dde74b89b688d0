/** Who opens the results of an account: what the command, the operator API and the portal let an operator choose. */
import * as z from 'zod/mini';
import type { AccountChange } from '../accounts/account-store.ts';
import { type ResultAccess, resultAccesses, resultMinutes } from '../contract/limits.ts';
import type { FieldError } from '../values/problem.ts';
import { wholeNumber } from './body.ts';

export const access = z.enum(resultAccesses);
export const accessMinutes = wholeNumber(resultMinutes.least, resultMinutes.most);

/**
 * What is wrong with a choice that the service cannot keep, and what would be right.
 * @param stated RESULTS of the functions (signedMinutesBy), which is the output Results of the stack, or "off"
 */
export function accessProblem(access: ResultAccess | null | undefined, stated: string): string | undefined {
  if (access === 'signed' && stated === 'off')
    return 'must be unguessable: this service has no keys that sign addresses until its setting `resultKeys` is true';
  if (access === 'unguessable' && stated === 'signed')
    return 'must be signed: this service signs the addresses of all accounts';
  return undefined;
}

export function accessError(access: ResultAccess | null | undefined, stated: string): FieldError | undefined {
  const message = accessProblem(access, stated);
  return message === undefined ? undefined : { field: 'results', code: 'invalid_value', message };
}

interface Choice {
  readonly results?: ResultAccess | null | undefined;
  readonly results_minutes?: number | null | undefined;
}

/** The change of an account by the fields of a body. */
export function choiceBy(body: Choice): Pick<AccountChange, 'results' | 'resultsMinutes'> {
  return {
    ...(body.results !== undefined && { results: body.results }),
    ...(body.results_minutes !== undefined && { resultsMinutes: body.results_minutes }),
  };
}
