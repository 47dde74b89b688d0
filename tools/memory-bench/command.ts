/** `npm run lab -- memory`: the least memory with which each renderer renders its largest orders. */
import { Command } from 'commander';
import { createOutput } from '../../terminal/output.ts';
import { wholeNumber } from '../../terminal/whole-number.ts';
import { benchMemory } from './bench.ts';

/** Resolves with whether every renderer has enough memory. */
export async function run(args: string[]): Promise<boolean> {
  const { json = false, pictures } = new Command('npm run lab -- memory')
    .description('Find the least memory with which each renderer renders its largest orders')
    .option('--pictures <number>', 'how many pictures one renderer makes in a row', '4')
    .option('--json', 'one JSON document')
    .parse(args, { from: 'user' })
    .opts<{ pictures: string; json?: boolean }>();
  return benchMemory({
    pictures: wholeNumber('--pictures', pictures),
    output: createOutput(json, (line) => console.log(line)),
    tell: (line) => console.error(line),
  });
}
