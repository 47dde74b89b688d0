/** `npm run lab -- audit`: time and memory of the daily audit on generated books. */
import { Command } from 'commander';
import { createOutput } from '../../terminal/output.ts';
import { wholeNumber } from '../../terminal/whole-number.ts';
import { benchAudit } from './bench.ts';

interface Options {
  readonly creations: string;
  readonly accounts: string;
  readonly oneAccount?: boolean;
  readonly secondsEach: string;
  readonly json?: boolean;
}

/** Resolves with whether the audit found the one wrong cent with at most 512 MB. */
export async function run(args: string[]): Promise<boolean> {
  const { json = false, ...values } = new Command('npm run lab -- audit')
    .description('Measure time and memory of the daily audit on generated books')
    .option('--creations <number>', 'how many creations the books have', '2000000')
    .option('--accounts <number>', 'how many accounts the books have', '10000')
    .option('--one-account', 'all creations are of one account')
    .option('--seconds-each <seconds>', 'how long one invocation may take, before another one goes on', '900')
    .option('--json', 'one JSON document')
    .parse(args, { from: 'user' })
    .opts<Options>();
  const { row, isGood } = await benchAudit({
    creations: wholeNumber('--creations', values.creations),
    accounts: values.oneAccount ? 1 : wholeNumber('--accounts', values.accounts),
    secondsEach: wholeNumber('--seconds-each', values.secondsEach),
    tell: (line) => console.error(line),
  });
  createOutput(json, (line) => console.log(line)).show(row);
  return isGood;
}
