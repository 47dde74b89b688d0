/**
 * `npm run cost`: counts how creations use AWS, and writes docs/cost.md. The page stays the same while
 * nothing has changed: tools/cost/keep-figures.ts says how. With --json nothing is written.
 */
import { parseArgs } from 'node:util';
import pc from 'picocolors';
import { wholeNumber } from '../terminal/whole-number.ts';
import { measureCosts, totalsOf, writeCostPage } from '../tools/cost/report.ts';

const { values } = parseArgs({
  options: { creations: { type: 'string', default: '20' }, json: { type: 'boolean', default: false } },
});
const creations = wholeNumber('--creations', values.creations);
const report = await measureCosts(creations, (line) => console.error(pc.dim(line)));
const totals = totalsOf(report);
if (values.json) console.log(JSON.stringify({ usd_per_1000: totals }));
else {
  await writeCostPage(report);
  for (const [kind, usd] of Object.entries(totals))
    console.log(`${kind.padEnd(34)} ${usd.toFixed(4)} USD for 1,000`);
  console.log(`\n${pc.bold('docs/cost.md')} is written.`);
}
