/** `npm run lab -- bundles`: the size and the import time of every function's bundle, beside a bare handler. */
import { Command } from 'commander';
import pc from 'picocolors';
import { createOutput } from '../../terminal/output.ts';
import { wholeNumber } from '../../terminal/whole-number.ts';
import { benchBundles } from './bench.ts';

/** Resolves with whether every bundle is within its limit. */
export async function run(args: string[]): Promise<boolean> {
  const { json = false, runs } = new Command('npm run lab -- bundles')
    .description('Measure the size and the import time of the bundle of every function')
    .option('--runs <number>', 'how often each bundle is imported', '15')
    .option('--json', 'one JSON document')
    .parse(args, { from: 'user' })
    .opts<{ runs: string; json?: boolean }>();
  const output = createOutput(json, (line) => console.log(line));
  return benchBundles(wholeNumber('--runs', runs), output, (line) => {
    if (process.stderr.isTTY) console.error(pc.dim(line));
  });
}
