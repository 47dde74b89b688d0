/**
 * `npm run bench:memory`: the least memory with which each renderer renders its largest orders. Exit code 1
 * when a renderer has less.
 */
import { parseArgs } from 'node:util';
import { createOutput } from '../terminal/output.ts';
import { wholeNumber } from '../terminal/whole-number.ts';
import { benchMemory } from '../tools/memory-bench/bench.ts';

const { values } = parseArgs({
  options: { pictures: { type: 'string', default: '4' }, json: { type: 'boolean', default: false } },
});
const isGood = await benchMemory({
  pictures: wholeNumber('--pictures', values.pictures),
  output: createOutput(values.json, (line) => console.log(line)),
  tell: (line) => console.error(line),
});
if (!isGood) process.exitCode = 1;
