/** `npm run cost`: measures creations and writes docs/cost.md. */
import { readFile, writeFile } from 'node:fs/promises';
import { formattedPage } from '../formatted-page.ts';
import { billFor, totalOf } from './bill.ts';
import { keepFigures } from './keep-figures.ts';
import { creationKinds, measure } from './measure.ts';
import { ownRenderMillis } from './estimate.ts';
import type { CostReport } from './cost-report.ts';
import { costPage } from './page.ts';
import { memoryOf, standingOf } from './resources.ts';

export const costPageFile = new URL('../../docs/cost.md', import.meta.url);

/** Measures this many creations of each kind. */
export async function measureCosts(creations: number, tell: (line: string) => void): Promise<CostReport> {
  const measured = await measure(creations, tell);
  const { kinds, reconciler } = keepFigures(measured, await readFile(costPageFile, 'utf8'));
  const memory = await memoryOf();
  return { kinds, memory, standing: await standingOf(reconciler, memory) };
}

/** What 1,000 creations of each kind cost, in USD. */
export function totalsOf({ kinds, memory }: CostReport): Readonly<Record<string, number>> {
  const total = (kind: (typeof creationKinds)[number]): number =>
    totalOf(billFor(kinds[kind], memory, ownRenderMillis(kinds)));
  return Object.fromEntries(creationKinds.map((kind) => [kind, Number(total(kind).toFixed(4))]));
}

export async function writeCostPage(report: CostReport): Promise<void> {
  await writeFile(costPageFile, await formattedPage(costPage(report)));
}
