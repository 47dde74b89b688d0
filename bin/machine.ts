/**
 * `npm run bench:machine`: how many creations a second the one machine accepts and completes, with what
 * processor time and memory. A provider on loopback answers at once, unless --wait says otherwise. Exit code
 * 1 when the books do not balance or another creation failed than those that crashed.
 */
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { createOutput } from '../terminal/output.ts';
import { wholeNumber } from '../terminal/whole-number.ts';
import { benchMachine } from '../tools/machine-bench/bench.ts';

interface Options {
  readonly creations: string;
  readonly connections: string;
  readonly wait: string;
  readonly crashes: string;
  readonly rounds: string;
  readonly before?: string;
  readonly json?: boolean;
}

const { json = false, ...values } = new Command('npm run bench:machine --')
  .description('Measure how many creations a second the one machine accepts and completes')
  .option('--creations <number>', 'how many creations one run has', '3000')
  .option('--connections <number>', 'how many clients send them', '10')
  .option('--wait <seconds>', 'how long the provider takes for each picture', '0')
  .option('--crashes <number>', 'how many renderings crash once all creations wait at the provider', '0')
  .option('--rounds <number>', 'how often it is measured', '1')
  .option('--before <commit>', 'measure the service of this commit, too, in turns')
  .option('--json', 'one JSON document')
  .parse()
  .opts<Options>();
const isGood = await benchMachine({
  root: fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, ''),
  creations: wholeNumber('--creations', values.creations),
  connections: wholeNumber('--connections', values.connections),
  waitMillis: wholeNumber('--wait', values.wait, 0) * 1000,
  crashes: wholeNumber('--crashes', values.crashes, 0),
  rounds: wholeNumber('--rounds', values.rounds),
  ...(values.before !== undefined && { before: values.before }),
  output: createOutput(json, (line) => console.log(line)),
  tell: (line) => console.error(line),
});
if (!isGood) process.exitCode = 1;
