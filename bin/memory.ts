/**
 * `npm run bench:memory`: the least memory with which each renderer renders its largest orders. Exit code 1
 * when a renderer has less.
 */
import { Command } from 'commander';
import { createOutput } from '../terminal/output.ts';
import { wholeNumber } from '../terminal/whole-number.ts';
import { benchMemory } from '../tools/memory-bench/bench.ts';

const { json = false, ...values } = new Command('npm run bench:memory --')
  .description('Find the least memory with which each renderer renders its largest orders')
  .option('--pictures <number>', 'how many pictures one renderer makes in a row', '4')
  .option('--json', 'one JSON document')
  .parse()
  .opts<{ pictures: string; json?: boolean }>();
const isGood = await benchMemory({
  pictures: wholeNumber('--pictures', values.pictures),
  output: createOutput(json, (line) => console.log(line)),
  tell: (line) => console.error(line),
});
if (!isGood) process.exitCode = 1;
