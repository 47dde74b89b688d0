/**
 * `npm run bench:client`: a thousand images with the client library, through a proxy that loses answers, kills
 * connections, and throws 429, 502 and 503 in. Exit code 1 when fewer than 99 in 100 requests give their image
 * at the first call, or when a request has another number of charges than one.
 */
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { createOutput } from '../terminal/output.ts';
import { wholeNumber } from '../terminal/whole-number.ts';
import { benchClient } from '../tools/client-bench/bench.ts';

interface Options {
  readonly requests: string;
  readonly atOnce: string;
  readonly share: string;
  readonly seed: string;
  readonly json?: boolean;
}

const { json = false, ...values } = new Command('npm run bench:client --')
  .description('Make images with the client library through a hostile proxy')
  .option('--requests <number>', 'how many images', '1000')
  .option('--at-once <number>', 'how many requests are open at once', '40')
  .option('--share <percent>', 'the percentage of sendings that the proxy strikes', '15')
  .option('--seed <number>', 'another seed strikes other sendings', '1')
  .option('--json', 'one JSON document')
  .parse()
  .opts<Options>();
const requests = wholeNumber('--requests', values.requests);
const { struck, errors, ...result } = await benchClient({
  root: fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, ''),
  requests,
  atOnce: wholeNumber('--at-once', values.atOnce),
  share: wholeNumber('--share', values.share, 0) / 100,
  seed: wholeNumber('--seed', values.seed, 0),
});
const output = createOutput(json, (line) => console.log(line));
output.list([{ ...result, ...errors, ...struck }], 'No run took place.');
const isGood =
  result.first >= requests * 0.99 &&
  result.creations === requests &&
  result.chargedOnce === requests &&
  result.differences === 0;
if (!isGood) process.exitCode = 1;
