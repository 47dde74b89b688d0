/**
 * `npm run bench:client`: a thousand images with the client library, through a proxy that loses answers, kills
 * connections, and throws 429, 502 and 503 in. Exit code 1 when fewer than 99 in 100 requests give their image
 * at the first call, or when a request has another number of charges than one.
 *
 *   --requests 1000     how many images
 *   --at-once 40        how many requests are open at once
 *   --share 15          the percentage of sendings that the proxy strikes
 *   --seed 1            another seed strikes other sendings
 *   --json              prints one JSON document
 */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createOutput } from '../terminal/output.ts';
import { wholeNumber } from '../terminal/whole-number.ts';
import { benchClient } from '../tools/client-bench/bench.ts';

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '1000' },
    'at-once': { type: 'string', default: '40' },
    share: { type: 'string', default: '15' },
    seed: { type: 'string', default: '1' },
    json: { type: 'boolean', default: false },
  },
});
const requests = wholeNumber('--requests', values.requests);
const { struck, errors, ...result } = await benchClient({
  root: fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, ''),
  requests,
  atOnce: wholeNumber('--at-once', values['at-once']),
  share: wholeNumber('--share', values.share, 0) / 100,
  seed: wholeNumber('--seed', values.seed, 0),
});
const output = createOutput(values.json, (line) => console.log(line));
output.list([{ ...result, ...errors, ...struck }], 'No run took place.');
const isGood =
  result.first >= requests * 0.99 &&
  result.creations === requests &&
  result.chargedOnce === requests &&
  result.differences === 0;
if (!isGood) process.exitCode = 1;
