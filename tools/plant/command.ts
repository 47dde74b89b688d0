/**
 * `npm run lab -- plant`: plants small random bugs, one at a time, and prints which of them no test catches. The
 * same seed gives the same bugs.
 */
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { wholeNumber } from '../../terminal/whole-number.ts';
import { plantingFolders } from './draw.ts';
import { listBugs, plantBugs } from './run.ts';

interface Options {
  readonly seed: string;
  readonly count: string;
  readonly folders: string;
  readonly only?: string;
  readonly phases: string;
  readonly lanes: string;
  readonly list?: boolean;
  readonly json?: boolean;
}

/** Resolves with true once every bug was tried. */
export async function run(args: string[]): Promise<boolean> {
  const values = new Command('npm run lab -- plant')
    .description('Plant small random bugs, one at a time, and print which of them no test catches')
    .option('--seed <number>', 'the same seed gives the same bugs', '1')
    .option('--count <number>', 'how many bugs', '100')
    .option('--folders <names>', 'plant bugs only in these folders', plantingFolders.join())
    .option('--only <end>', 'plant bugs only in files whose path ends with this text')
    .option('--phases <names>', 'run only these parts of the tests: unit, simulation, stack, service', '')
    .option('--lanes <number>', 'how many bugs are tried at the same time', '1')
    .option('--list', 'list the bugs and run no test')
    .option('--json', 'one JSON document')
    .parse(args, { from: 'user' })
    .opts<Options>();
  const options = {
    root: fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, ''),
    count: wholeNumber('--count', values.count),
    lanes: wholeNumber('--lanes', values.lanes),
    seed: wholeNumber('--seed', values.seed, 0),
    folders: values.folders.split(','),
    only: values.only,
    phases: values.phases.split(',').filter((name) => name !== ''),
    json: values.json ?? false,
  };
  if (values.list) listBugs(options);
  else await plantBugs(options);
  return true;
}
