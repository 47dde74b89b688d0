/**
 * `npm run bench:audit`: time and memory of the daily audit on generated books. Exit code 1 when it needs more
 * than 512 MB, or does not find the one wrong cent.
 */
import { parseArgs } from 'node:util';
import { createOutput } from '../terminal/output.ts';
import { wholeNumber } from '../terminal/whole-number.ts';
import { benchAudit } from '../tools/audit-bench/bench.ts';

const { values } = parseArgs({
  options: {
    creations: { type: 'string', default: '2000000' },
    accounts: { type: 'string', default: '10000' },
    'one-account': { type: 'boolean', default: false },
    'seconds-each': { type: 'string', default: '900' },
    json: { type: 'boolean', default: false },
  },
});
const { row, isGood } = await benchAudit({
  creations: wholeNumber('--creations', values.creations),
  accounts: values['one-account'] ? 1 : wholeNumber('--accounts', values.accounts),
  secondsEach: wholeNumber('--seconds-each', values['seconds-each']),
  tell: (line) => console.error(line),
});
createOutput(values.json, (line) => console.log(line)).show(row);
if (!isGood) process.exitCode = 1;
