/** Who can open results, and the key that signs their addresses. */
import type { AccountChange } from '../../service/accounts/account-store.ts';
import { resultAccesses, resultMinutes } from '../../service/contract/limits.ts';
import { accessProblem } from '../../service/operated/results.ts';
import type { OperatorCommand } from '../operator-command.ts';
import { OperatorError } from '../operator-error.ts';
import { retireResultKeys, rotateResultKey } from '../result-keys.ts';
import * as values from '../terminal/values.ts';

export function addResultsCommands(program: OperatorCommand): void {
  const results = program.task('results', 'replace the key that signs addresses of results');
  results
    .task('rotate-key', 'begin to replace the key, or go on: run it twice, 15 minutes apart')
    .option('--retire', 'take away the keys that were replaced more than 7 days ago')
    .run(async ({ services, output }, { retire }: { retire?: boolean }) => {
      const access = services.resultKeys();
      output.show({ ...(await (retire ? retireResultKeys : rotateResultKey)(access)) });
    });
}

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
  const access =
    results === undefined
      ? undefined
      : results === ''
        ? null
        : values.oneOf('--results', results, resultAccesses);
  const problem = accessProblem(access, signing);
  if (problem !== undefined) throw new OperatorError(`--results: ${problem}.`);
  const { least, most } = resultMinutes;
  return {
    ...(access !== undefined && { results: access }),
    ...(minutes !== undefined && {
      resultsMinutes: minutes === '' ? null : values.count('--results-minutes', minutes, least, most),
    }),
  };
}
