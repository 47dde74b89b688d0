/**
 * Keeps docs/cost.md the same from run to run. CPU time and log bytes differ a little in every run: another
 * program shares the processor, and a duration in a log line has one digit more. All other counts are the
 * same in every run.
 *
 * A run therefore keeps the figure of the committed page while the new figure is near it, and rounds a figure
 * that is not near it. All amounts on the page follow from these figures, so an unchanged program gives an
 * unchanged page.
 */
import { creationKinds, type CreationCount, type Measured } from './measure.ts';
import type { FunctionCount } from './meter.ts';
import { figuresOf, type Figures } from './page-figures.ts';

/**
 * CPU time is near when it is between half and double of the old one, or differs from it by less than this.
 */
const nearMillis = 2;
/** Log bytes are near when they differ by at most this share of the old ones. */
const nearShare = 0.05;

/** The measured counts, with the figures of the committed page where the new ones are near them. */
export function keepFigures({ kinds, reconciler }: Measured, page: string): Measured {
  const before = figuresOf(page);
  const kept = creationKinds.map((kind) => [kind, keptCount(kinds[kind], before.get(kind))] as const);
  return {
    kinds: { ...kinds, ...Object.fromEntries(kept) },
    reconciler: keptCount(reconciler, before.get('reconciler')),
  };
}

function keptCount(count: CreationCount, before: Figures | undefined): CreationCount {
  const functions = Object.entries(count.functions).map(([name, one]): [string, FunctionCount] => [
    name,
    { ...one, cpuMillis: keptMillis(one.cpuMillis, before?.cpuMillis.get(name)) },
  ]);
  return {
    ...count,
    functions: Object.fromEntries(functions),
    logBytes: keptBytes(count.logBytes, before?.logBytes),
    storedBytes: keptBytes(count.storedBytes, before?.storedBytes),
  };
}

function keptMillis(now: number, before: number | undefined): number {
  const isNear =
    before !== undefined && (Math.abs(now - before) < nearMillis || (now >= before / 2 && now <= before * 2));
  return isNear ? before : Number(now.toFixed(1));
}

function keptBytes(now: number, before: number | undefined): number {
  const isNear = before !== undefined && Math.abs(now - before) <= nearShare * before;
  return isNear ? before : Math.round(now);
}
