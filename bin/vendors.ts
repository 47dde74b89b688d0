/**
 * `npm run vendors`: sends the same prompt through the fake of every vendor, and prints a table of the
 * pictures, the prices and the margins. Exit code 1 when a creation does not complete.
 */
import { Command } from 'commander';
import { createOutput } from '../terminal/output.ts';
import { showVendors } from '../tools/vendors/table.ts';

const { json = false } = new Command('npm run vendors --')
  .description(
    'Send the same prompt through the fake of every vendor, and print pictures, prices and margins',
  )
  .option('--json', 'one JSON document')
  .parse()
  .opts<{ json?: boolean }>();
const output = createOutput(json, (line) => console.log(line));
const isGood = await showVendors(output, (line) => {
  if (process.stderr.isTTY) console.error(line);
});
process.exitCode = isGood ? 0 : 1;
