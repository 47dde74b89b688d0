/**
 * `npm run bench:bundles`: the size and the import time of every function's bundle, and of a bare handler for
 * comparison. Exit code 1 when a bundle is larger than its limit.
 */
import { Command } from 'commander';
import pc from 'picocolors';
import { createOutput } from '../terminal/output.ts';
import { wholeNumber } from '../terminal/whole-number.ts';
import { benchBundles } from '../tools/bundles/bench.ts';

const { json = false, ...values } = new Command('npm run bench:bundles --')
  .description('Measure the size and the import time of the bundle of every function')
  .option('--runs <number>', 'how often each bundle is imported', '15')
  .option('--json', 'one JSON document')
  .parse()
  .opts<{ runs: string; json?: boolean }>();
const output = createOutput(json, (line) => console.log(line));
const isGood = await benchBundles(wholeNumber('--runs', values.runs), output, (line) => {
  if (process.stderr.isTTY) console.error(pc.dim(line));
});
if (!isGood) process.exitCode = 1;
