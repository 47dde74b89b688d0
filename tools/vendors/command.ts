/** `npm run lab -- vendors`: a table of the pictures, the prices and the margins of all vendors, by their fakes. */
import { Command } from 'commander';
import { createOutput } from '../../terminal/output.ts';
import { showVendors } from './table.ts';

/** Resolves with whether every creation completed. */
export async function run(args: string[]): Promise<boolean> {
  const { json = false } = new Command('npm run lab -- vendors')
    .description(
      'Send the same prompt through the fake of every vendor, and print pictures, prices and margins',
    )
    .option('--json', 'one JSON document')
    .parse(args, { from: 'user' })
    .opts<{ json?: boolean }>();
  const output = createOutput(json, (line) => console.log(line));
  return showVendors(output, (line) => {
    if (process.stderr.isTTY) console.error(line);
  });
}
