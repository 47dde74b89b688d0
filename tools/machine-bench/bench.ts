/** Runs the one machine under load, and beside it the service of an earlier commit. */
import type { Output } from '../../terminal/output.ts';
import { withCommit } from './commit-checkout.ts';
import { runOnce, type RunOptions, type RunResult } from './run.ts';

export interface BenchOptions extends RunOptions {
  readonly rounds: number;
  /** A commit to compare with. */
  readonly before?: string;
  readonly output: Output;
}

/** Prints one line for each run. True when all books balance and no creation failed but those that crashed. */
export async function benchMachine(options: BenchOptions): Promise<boolean> {
  const { root, before, output } = options;
  const results =
    before === undefined
      ? await alternate(options, [['this checkout', root]])
      : await withCommit(root, before, (folder) => {
          options.tell(`${before} is installed in ${folder} …`);
          return alternate(options, [
            [before, folder],
            ['this checkout', root],
          ]);
        });
  output.list(
    results.map((result) => ({ ...result })),
    'No run took place.',
  );
  return results.every(({ failed, books }) => failed === options.crashes && books === 'balance');
}

/** The checkouts take turns, so that other work on the machine slows down all of them alike. */
async function alternate(
  options: BenchOptions,
  checkouts: readonly (readonly [name: string, root: string])[],
): Promise<(RunResult & { readonly service: string })[]> {
  const results: (RunResult & { readonly service: string })[] = [];
  for (let round = 1; round <= options.rounds; round += 1) {
    for (const [service, root] of checkouts) {
      options.tell(`round ${round} of ${options.rounds}: ${service} …`);
      results.push({ service, ...(await runOnce({ ...options, root })) });
    }
  }
  return results;
}
