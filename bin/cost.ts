/** `npm run cost`: counts what creations ask of AWS, and writes docs/cost.md. */
import { readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import pc from 'picocolors';
import { metrics } from '../core/metrics.ts';
import { formattedPage } from '../tools/formatted-page.ts';
import { billFor, totalOf, type Memory, type Standing } from '../tools/cost/bill.ts';
import { measure, memoryOf, type CreationCount } from '../tools/cost/measure.ts';
import { costPage, ownRenderMillis } from '../tools/cost/page.ts';
import { synthesizedTemplate } from '../start/synthesized-template.ts';
import { wholeNumber } from '../terminal/whole-number.ts';

const page = new URL('../docs/cost.md', import.meta.url);
const { values } = parseArgs({
  options: { creations: { type: 'string', default: '20' }, json: { type: 'boolean', default: false } },
});

/** What the template has that is billed by the month. */
async function standingOf(count: CreationCount, memory: Memory): Promise<Standing> {
  const { Resources: resources } = JSON.parse(await readFile(await synthesizedTemplate(), 'utf8')) as {
    readonly Resources: Readonly<Record<string, { readonly Type: string }>>;
  };
  const of = (type: string): number => Object.values(resources).filter(({ Type }) => Type === type).length;
  return {
    alarms: of('AWS::CloudWatch::Alarm'),
    metrics: metrics.filter(({ event }) => event === 'reconciled' || event === 'books_audited').length,
    dashboards: of('AWS::CloudWatch::Dashboard'),
    secrets: of('AWS::SecretsManager::Secret'),
    reconciler: { count, memory },
  };
}

const { kinds, reconciler } = await measure(wholeNumber('--creations', values.creations), (line) => {
  console.error(pc.dim(line));
});
const memory = await memoryOf();
const report = { kinds, memory, standing: await standingOf(reconciler, memory) };
const totals = Object.fromEntries(
  Object.entries(kinds).map(([kind, count]) => [
    kind,
    Number(totalOf(billFor(count, memory, ownRenderMillis(kinds))).toFixed(4)),
  ]),
);
if (values.json) console.log(JSON.stringify({ usd_per_1000: totals }));
else {
  await writeFile(page, await formattedPage(costPage(report), page));
  for (const [kind, usd] of Object.entries(totals))
    console.log(`${kind.padEnd(34)} ${usd.toFixed(4)} USD for 1,000`);
  console.log(`\n${pc.bold('docs/cost.md')} is written.`);
}
