/** Who can open the results of an account. */
import type { AccountChange } from '../../service/accounts/account-store.ts';
import { resultAccesses, resultMinutes } from '../../service/contract/limits.ts';
import { OperatorError } from '../operator-error.ts';
import * as values from '../terminal/values.ts';

export interface ResultsChoice {
  readonly results?: string;
  readonly resultsMinutes?: string;
}

/**
 * The change of an account. Refuses a choice that the service cannot keep.
 * @param signing the output Results of the stack, or "off"
 */
export function resultsChange(
  { results, resultsMinutes: minutes }: ResultsChoice,
  signing: string,
): Pick<AccountChange, 'results' | 'resultsMinutes'> {
  const access = results === undefined ? undefined : values.oneOf('--results', results, resultAccesses);
  if (access === 'signed' && signing === 'off')
    throw new OperatorError(
      '--results: this service has no keys that sign addresses: set `resultKeys` in its settings, and deploy again.',
    );
  if (access === 'unguessable' && signing === 'signed')
    throw new OperatorError('--results: this service signs the addresses of all accounts.');
  const { least, most } = resultMinutes;
  return {
    ...(access && { results: access === 'signed' ? access : null }),
    ...(minutes !== undefined && {
      resultsMinutes: minutes === '' ? null : values.count('--results-minutes', minutes, least, most),
    }),
  };
}
