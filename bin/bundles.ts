/**
 * `npm run bench:bundles`: the size and the import time of every function's bundle, and of a bare handler for
 * comparison. Exit code 1 when a bundle is larger than its limit.
 */
import { parseArgs } from 'node:util';
import pc from 'picocolors';
import { createOutput } from '../terminal/output.ts';
import { wholeNumber } from '../terminal/whole-number.ts';
import { benchBundles } from '../tools/bundles/bench.ts';

const { values } = parseArgs({
  options: { runs: { type: 'string', default: '15' }, json: { type: 'boolean', default: false } },
});
const output = createOutput(values.json, (line) => console.log(line));
const isGood = await benchBundles(wholeNumber('--runs', values.runs), output, (line) => {
  if (process.stderr.isTTY) console.error(pc.dim(line));
});
if (!isGood) process.exitCode = 1;
