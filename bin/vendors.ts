/**
 * `npm run vendors`: sends the same prompt through the fake of every vendor, and prints a table of the
 * pictures, the prices and the margins. Exit code 1 when a creation does not complete.
 */
import { parseArgs } from 'node:util';
import { createOutput } from '../terminal/output.ts';
import { showVendors } from '../tools/vendors/table.ts';

const { values } = parseArgs({ options: { json: { type: 'boolean', default: false } } });
const output = createOutput(values.json, (line) => console.log(line));
const isGood = await showVendors(output, (line) => {
  if (process.stderr.isTTY) console.error(line);
});
process.exitCode = isGood ? 0 : 1;
