/**
 * `npm run bench:machine`: how many creations a second the one machine accepts and completes, with what
 * processor time and memory. A provider on loopback answers at once, unless --wait says otherwise. Exit code
 * 1 when the books do not balance or another creation failed than those that crashed.
 *
 *   --creations 3000    how many creations one run has
 *   --connections 10    how many clients send them
 *   --wait 0            how many seconds the provider takes for each picture
 *   --crashes 0         how many renderings crash once all creations wait at the provider
 *   --rounds 1          how often it is measured
 *   --before COMMIT     measures the service of this commit, too, in turns
 *   --json              prints one JSON document
 */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createOutput } from '../terminal/output.ts';
import { wholeNumber } from '../terminal/whole-number.ts';
import { benchMachine } from '../tools/machine-bench/bench.ts';

const { values } = parseArgs({
  options: {
    creations: { type: 'string', default: '3000' },
    connections: { type: 'string', default: '10' },
    wait: { type: 'string', default: '0' },
    crashes: { type: 'string', default: '0' },
    rounds: { type: 'string', default: '1' },
    before: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
});
const isGood = await benchMachine({
  root: fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, ''),
  creations: wholeNumber('--creations', values.creations),
  connections: wholeNumber('--connections', values.connections),
  waitMillis: wholeNumber('--wait', values.wait, 0) * 1000,
  crashes: wholeNumber('--crashes', values.crashes, 0),
  rounds: wholeNumber('--rounds', values.rounds),
  ...(values.before !== undefined && { before: values.before }),
  output: createOutput(values.json, (line) => console.log(line)),
  tell: (line) => console.error(line),
});
if (!isGood) process.exitCode = 1;
