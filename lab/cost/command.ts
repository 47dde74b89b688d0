/** `npm run cost`: measures what creations cost, writes docs/cost.md if asked, or computes what a month costs. */
import { readFile, writeFile } from 'node:fs/promises';
import { Command } from 'commander';
import pc from 'picocolors';
import { isBuiltIn } from '../../service/catalog/providers.ts';
import { formattedPage } from '../formatted-page.ts';
import { committedCounts, creationKinds, keepFigures } from './counts.ts';
import {
  estimate,
  kindTitles,
  type Order,
  pictures,
  type RendererName,
  trafficMetricsMonth,
  vendorNames,
} from './estimate.ts';
import { measure } from './measure.ts';
import { withTables } from './page.ts';
import { billOf, totalOf } from './prices.ts';
import { idleBill, memoryOf, standingOf } from './standing.ts';

const pageFile = new URL('../../docs/cost.md', import.meta.url);
const countsFile = new URL('counts.json', import.meta.url);

/** A command line that cannot be obeyed. The message says why, in one sentence. */
class Refused extends Error {}

/** False when the command line was refused. */
export async function cost(args: readonly string[]): Promise<boolean> {
  try {
    const values = parse(args);
    await (isEstimate(values) ? printEstimate(orderOf(values), values.json ?? false) : remeasure(values));
    return true;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    console.error(error.message);
    return false;
  }
}

interface Values {
  readonly measured?: string;
  readonly stored?: boolean;
  readonly write?: boolean;
  readonly vendor?: string;
  readonly creations?: string;
  readonly seconds?: string;
  readonly webhook?: boolean;
  readonly polls?: boolean;
  readonly picture?: string;
  readonly megabytes?: string;
  readonly json?: boolean;
}

/** Ends the program when an option is not known. */
function parse(args: readonly string[]): Values {
  return new Command('npm run cost --')
    .description(
      'Compute what the creations of a month cost at AWS. Without an option: measure 1,000 creations of each kind, and write nothing.',
    )
    .option('--vendor <name>', 'the vendor that renders')
    .option('--creations <number>', 'how many creations a month has (1000)')
    .option('--seconds <number>', 'how long the vendor takes (15)')
    .option('--webhook', 'clients take the webhook, which is the default')
    .option('--polls', 'clients poll')
    .option('--picture <size>', '1K, 2K, 4K, or sources: from source images (1K)')
    .option('--megabytes <number>', 'how large a picture is')
    .option('--measured <number>', 'measure with so many creations of each kind (20)')
    .option('--stored', 'take the stored counts instead of measuring, for new prices, alarms and vendors')
    .option('--write', 'write docs/cost.md, and the counts')
    .option('--json', 'one JSON document')
    .parse(args, { from: 'user' })
    .opts<Values>();
}

function isEstimate({ vendor, creations, seconds, webhook, polls, picture, megabytes }: Values): boolean {
  return (
    [vendor, creations, seconds, picture, megabytes].some((one) => one !== undefined) ||
    webhook === true ||
    polls === true
  );
}

const rendererOfPicture: Readonly<Record<string, RendererName>> = {
  '1K': 'RenderImageSmall',
  '2K': 'RenderImageLarge',
  '4K': 'RenderImageLarge',
  sources: 'RenderImage',
};

/** The order that the options name. Throws Refused. */
export function orderOf(values: Partial<Values>): Order {
  const { vendor, webhook = false, polls = false, picture = '1K', megabytes } = values;
  if (vendor === undefined || !isBuiltIn(vendor))
    throw new Refused(`--vendor: name one of ${vendorNames.join(', ')}.`);
  if (webhook && polls) throw new Refused('--webhook and --polls exclude each other.');
  if (values.measured !== undefined || values.stored === true || values.write === true)
    throw new Refused('--measured, --stored and --write go with no option of an estimate.');
  const renderer = rendererOfPicture[picture];
  if (renderer === undefined)
    throw new Refused(`--picture: name one of ${Object.keys(rendererOfPicture).join(', ')}.`);
  return {
    vendor,
    creations: numberOf('--creations', values.creations ?? '1000', 1),
    seconds: numberOf('--seconds', values.seconds ?? '15', 0),
    following: polls ? 'polls' : 'webhook',
    renderer,
    ...(megabytes !== undefined && { megabytes: numberOf('--megabytes', megabytes, 0) }),
  };
}

function numberOf(option: string, text: string, least: number): number {
  const number = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && number >= least && number <= 1e12) return number;
  throw new Refused(`${option}: ${JSON.stringify(text)} must be a number of at least ${least}.`);
}

async function printEstimate(order: Order, asJson: boolean): Promise<void> {
  const { kinds, reconciler } = committedCounts;
  const memory = await memoryOf();
  const found = estimate(order, { kinds, memory });
  const idle = totalOf(idleBill(await standingOf(reconciler, memory)));
  const steady = trafficMetricsMonth().usd;
  const month = found.all + idle + steady;
  if (asJson) {
    const { kind, polls, perThousand, all } = found;
    const usd = { usd_per_1000: rounded(perThousand), usd_creations: cents(all) };
    const fixed = { usd_idle_month: cents(idle), usd_metrics: cents(steady), usd_month: cents(month) };
    console.log(JSON.stringify({ ...order, kind, polls, ...usd, ...fixed }));
    return;
  }
  for (const line of linesOf(order, found)) console.log(line);
  console.log(row(`${order.creations.toLocaleString('en')} creations`, found.all, 2));
  console.log(row('The month without requests', idle, 2));
  console.log(row(`${trafficMetricsMonth().metrics} metrics of the traffic`, steady, 2));
  console.log(pc.bold(row('The month', month, 2)));
  console.log(
    pc.dim(
      '\nUSD in us-east-1, without free tiers and without what the vendor bills. docs/cost.md says what is counted.',
    ),
  );
}

function linesOf(order: Order, { kind, polls, perThousand }: ReturnType<typeof estimate>): readonly string[] {
  const follows =
    order.following === 'webhook' ? 'a webhook' : `${polls} ${polls === 1 ? 'poll' : 'polls'} each`;
  const picture = pictures[order.renderer ?? 'RenderImageSmall'];
  return [
    `${order.vendor} ${kindTitles[kind]}: ${order.seconds} s, ${follows}, ${picture}\n`,
    ...Object.entries(perThousand)
      .filter(([, usd]) => usd > 0)
      .map(([part, usd]) => row(part, usd, 4)),
    pc.bold(row('1,000 creations', totalOf(perThousand), 4)),
    '',
  ];
}

function row(title: string, usd: number, decimals: number): string {
  return `${title.padEnd(34)} ${usd.toFixed(decimals).padStart(12)}`;
}

function rounded(bill: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(bill).map(([part, usd]) => [part, Number(usd.toFixed(6))]));
}

function cents(usd: number): number {
  return Number(usd.toFixed(2));
}

async function measured(creations: string): Promise<typeof committedCounts> {
  const counted = await measure(numberOf('--measured', creations, 1), (line) => console.error(pc.dim(line)));
  return keepFigures(counted, committedCounts);
}

async function remeasure({ stored = false, write = false, json, ...values }: Values): Promise<void> {
  if (stored && values.measured !== undefined)
    throw new Refused('--stored and --measured exclude each other.');
  const { kinds, reconciler } = stored ? committedCounts : await measured(values.measured ?? '20');
  const memory = await memoryOf();
  const report = { kinds, memory, standing: await standingOf(reconciler, memory) };
  if (write) {
    const page = withTables(await readFile(pageFile, 'utf8'), report);
    await writeFile(pageFile, await formattedPage(page));
    await writeFile(countsFile, `${JSON.stringify({ kinds, reconciler }, null, 2)}\n`);
  }
  const totals = creationKinds.map((kind) => [kind, totalOf(billOf(kind, report))] as const);
  if (json) {
    const rows = totals.map(([kind, usd]) => [kind, Number(usd.toFixed(4))]);
    console.log(JSON.stringify({ usd_per_1000: Object.fromEntries(rows) as object }));
    return;
  }
  for (const [kind, usd] of totals) console.log(`${kind.padEnd(34)} ${usd.toFixed(4)} USD for 1,000`);
  if (write) console.log(`\n${pc.bold('docs/cost.md')} has these tables.`);
}
