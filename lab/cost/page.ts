/**
 * The tables of docs/cost.md, from the measured counts. The text around them is written by hand, without its figures,
 * which `figuresInText` has.
 */
import { leaseRenewMillis } from '../../service/contract/limits.ts';
import { countTables, creationKinds, table, usd } from './counts.ts';
import {
  estimate,
  kindOf,
  kindTitles,
  pictures,
  pollBill,
  pollsAt,
  pollsUntil,
  serviceBill,
  trafficMetricsMonth,
  type VendorKind,
  vendorNames,
  vendorTitles,
} from './estimate.ts';
import {
  awsMillis,
  billOf,
  billParts,
  coldBill,
  coldShare,
  thumbnailsBill,
  thumbnailMillis,
  initMillis,
  thresholdChecks,
  oneMoreItemBill,
  type Measurements,
  type Memory,
  priceList,
  prices,
  pricesReadAt,
  receiverMillis,
  totalOf,
  waitFor,
} from './prices.ts';
import { eventBill, heldBill, pollSeconds, viewBill, viewNames, viewParts } from './requests.ts';
import {
  canaryMonth,
  dailyAudits,
  erasedTexts,
  fetchedBill,
  idleBill,
  keptDays,
  keptMonth,
  type Standing,
  storedBill,
  trafficBill,
  usualMegabytes,
  wholeAudit,
} from './standing.ts';

export interface CostReport extends Measurements {
  readonly standing: Standing;
}

/** Seconds that a provider takes. */
const waits = [15, 60, 120] as const;
const seconds = (values: readonly number[]): string[] => values.map((value) => `${value} s`);

/** Bills side by side, with their sums in the last row. */
function billTable(
  names: readonly string[],
  parts: readonly string[],
  bills: readonly Readonly<Record<string, number>>[],
): string {
  const rows = parts.map((part) => [part, ...bills.map((bill) => usd(bill[part] ?? 0))]);
  const all = ['**All**', ...bills.map((bill) => `**${usd(totalOf(bill))}**`)];
  return table(['USD for 1,000', ...names], [...rows, all]);
}

function waitTable(report: Measurements): string {
  const rows = Object.entries(pictures).map(([renderer, picture]) => [
    picture,
    String(report.memory[renderer] ?? 0),
    ...waits.map((wait) => usd(waitFor(wait, renderer, report.memory))),
    ...waits.map((wait) => usd(successAfter(wait, renderer, report))),
  ]);
  const head = ['waiting', 'all'].flatMap((what) => seconds(waits).map((wait) => `${what}, ${wait}`));
  return table(['Picture', 'MB', ...head], rows);
}

/** USD for 1,000 creations, all parts together, by the kind of vendor. */
function vendorTable(report: Measurements): string {
  const columns = [15, 60].flatMap((wait) =>
    (['webhook', 'polls'] as const).map((following) => ({ seconds: wait, following, creations: 1000 })),
  );
  const rows = kinds.map(([kind, title]) => {
    const vendor = vendorNames.find((name) => kindOf(name) === kind) ?? 'sandbox';
    const all = columns.map((column) => usd(estimate({ ...column, vendor }, report).all));
    return [`${title}: ${vendorTitles(kind)}`, ...all];
  });
  return table(['A vendor that', ...columns.map((one) => `${one.seconds} s, ${one.following}`)], rows);
}

const kinds = Object.entries(kindTitles) as [VendorKind, string][];

/** Polls of one creation, and USD for those of 1,000 creations. */
function pollTable(report: Measurements): string {
  const polled = [5, 15, 60, 120];
  const row = (title: string, pollsIn: (wait: number) => number): string[] => [
    title,
    ...polled.map(pollsIn).map((polls) => `${polls} (${usd(polls * pollBill(report))})`),
  ];
  return table(
    ['A client that', ...seconds(polled)],
    [
      row('waits as the service says', (wait) => pollsUntil(wait)),
      row('does so while nobody knows the usual time', (wait) => pollsUntil(wait, false)),
      row('polls every 2 s', (wait) => pollsAt(2, wait)),
    ],
  );
}

function pictureTable({ kinds: { 'success, webhook': success } }: Measurements): string {
  const rows: readonly (readonly [string, number])[] = [
    [`Pictures of ${usualMegabytes} MB in S3, for ${keptDays} days`, storedBill(usualMegabytes)],
    ['Each of them fetched once, through CloudFront', fetchedBill(usualMegabytes)],
    ['Orders to vendors, answers and webhooks, as traffic', trafficBill({ polls: 0, hasWebhook: true })],
    ['The daily audits, until the month is closed', dailyAudits()],
    ['The erasure of their texts, once', erasedTexts()],
    ['Records in DynamoDB with their backup, a month', keptMonth(success.storedBytes)],
    ['The whole audit of each month, which reads these records', wholeAudit()],
  ];
  return table(
    ['USD for 1,000 creations', 'USD'],
    rows.map(([what, amount]) => [what, usd(amount)]),
  );
}

function eventTable(memory: Memory): string {
  const { written, placedAlone, placedTogether, heldRead, listeningMonth } = eventBill(memory);
  return table(
    ['What', 'USD'],
    [
      ['1,000 ends of an account that reads events', usd(written)],
      ['1,000 events that are read one by one', usd(placedAlone)],
      ['1,000 events that are read 100 at a time', usd(placedTogether)],
      ['1,000 reads that are held for 20 s', usd(heldRead)],
      ['A month of one client that always holds a read', usd(listeningMonth, 2)],
    ],
  );
}

function idleTable(standing: Standing): string {
  const bill = idleBill(standing);
  const rows = Object.entries(bill).map(([part, amount]) => [part, usd(amount, 2)]);
  return table(['A month', 'USD'], [...rows, ['**All**', `**${usd(totalOf(bill), 2)}**`]]);
}

const seenTitles = { page: "AWS's page", quoted: 'quoted', known: 'not read again' } as const;

function priceTable(): string {
  const rows = Object.values(priceList).map(({ usd: amount, unit, page, seen }) => [
    unit,
    // Without an exponent.
    amount >= 0.001 ? String(amount) : `${Number((amount * 1e6).toPrecision(6))} for a million`,
    `[${seenTitles[seen]}](${page})`,
  ]);
  return table(['Price of', 'USD', 'Seen'], rows);
}

function heldTable(memory: Memory): string {
  const held = waits.map((wait) => usd(heldBill(wait, memory)));
  return table(['USD for 1,000', ...seconds(waits)], [['held', ...held]]);
}

function capTable(): string {
  const { charged, refunded } = oneMoreItemBill();
  const head = ['USD for 1,000', 'creation', 'creation that is refunded'];
  return table(
    head,
    ['A cap for each user', 'A token of an end user'].map((what) => [what, usd(charged), usd(refunded)]),
  );
}

/** The tables by the heading of their section. */
function costTables(report: CostReport): Readonly<Record<string, readonly string[]>> {
  const { memory, standing } = report;
  const bills = creationKinds.map((kind) => billOf(kind, report));
  const views = viewNames.map((name) => viewBill(name, memory));
  return {
    '1,000 creations': [billTable(creationKinds, billParts, bills)],
    'While a provider works': [waitTable(report)],
    'Everything, by kind of vendor': [vendorTable(report)],
    Polls: [pollTable(report)],
    'Pictures, traffic and records': [pictureTable(report)],
    'A request that is held': [heldTable(memory)],
    'Caps of a key, and tokens': [capTable()],
    Events: [eventTable(memory)],
    'The portal': [billTable(viewNames, viewParts, views)],
    'A month without requests': [idleTable(standing)],
    'Where the figures come from': countTables({ ...report, reconciler: standing.reconciler }),
    Prices: [priceTable()],
  };
}

/** Replaces the page's tables, and figures between the same words. Throws when a section has other tables. */
export function withTables(page: string, report: CostReport): string {
  const tables = costTables(report);
  const sections = page.split(/^(?=## )/m).map((section) => {
    const left = [...(tables[/^## (.*)/.exec(section)?.[1] ?? ''] ?? [])];
    const text = section.replace(/(?:^\|.*\n)+/gm, () => `${left.shift() ?? 'a table too many'}\n`);
    if (left.length > 0 || text.includes('a table too many'))
      throw new Error(`docs/cost.md: the section ${section.split('\n', 1)[0]} has other tables`);
    return text;
  });
  return figuresInText(report).reduce((text, figure) => {
    const words = figure.replace(/[().*]/g, '\\$&').replace(/\d+(\\\.\d+)?/g, '\\d+(\\.\\d+)?');
    return text.replace(new RegExp(words), figure);
  }, sections.join(''));
}

/** What 1,000 successes with a webhook cost when this renderer waits for so long, in USD. */
export function successAfter(wait: number, renderer: string, report: Measurements): number {
  return totalOf(billOf('success, webhook', report, renderer)) + waitFor(wait, renderer, report.memory);
}

const canaryMinutes = 5;
/** The sandbox answers at once. The canary takes no webhook, and polls twice. */
const canaryRun = {
  kind: 'synchronous',
  seconds: 1,
  hasWebhook: false,
  renderer: 'RenderImageSmall',
} as const;

/** USD for the audits of the nth month with 10,000,000 creations each. */
function auditIn(month: number): number {
  return 10_000 * (dailyAudits() + month * wholeAudit());
}

/** The figures that the text of the page names, with the words beside them. */
export function figuresInText(report: CostReport): readonly string[] {
  const { memory } = report;
  const { transitions, storedBytes } = report.kinds['success, webhook'];
  const calledBack = totalOf(billOf('success, webhook, callback', report));
  const records = keptMonth(storedBytes) + wholeAudit();
  const canary = canaryMonth(canaryMinutes, totalOf(serviceBill(canaryRun, report)) + 2 * pollBill(report));
  const metrics = trafficMetricsMonth();
  const megabytes = (name: string): number => memory[name] ?? 0;
  return [
    `those of us-east-1, read on ${pricesReadAt} (`,
    `USD in us-east-1, on ${pricesReadAt}.`,
    `The number of state transitions in a success is ${transitions},`,
    `failures (${report.kinds['failure, webhook'].transitions} each)`,
    `the thumbnails of a picture cost ${usd(thumbnailsBill(memory))} USD for 1,000`,
    `${thumbnailMillis.small} ms for the thumbnails (8 megapixels: ${thumbnailMillis.large} ms)`,
    `reads two items, ${usd(thresholdChecks(memory), 6)} USD for 1,000`,
    `renews its lease every ${leaseRenewMillis / 1000} s`,
    `costs as much as ${Math.round(prices.edgeGigabyte / 1000 / prices.writeUnit)} write units`,
    `then take ${usd(1200 * records, 2)} USD a month`,
    `${usd(auditIn(1), 2)} USD in the first month, ${usd(auditIn(12), 2)} USD in the twelfth`,
    `keeps ${metrics.metrics} of them alive for one model at one vendor, ${usd(metrics.usd, 2)} USD.`,
    `adds at least two, ${usd(2 * prices.metricMonth, 2)} USD`,
    `OpenaiImages waits with ${megabytes('OpenaiImages')} MB`,
    `then cost ${usd(calledBack + eventBill(memory).written)} USD`,
    `polls after ${pollSeconds()} s`,
    `PortalRead with ${megabytes('PortalRead')} MB`,
    `two of the secrets in the next table, ${usd(2 * prices.secretMonth, 2)} USD a month`,
    `takes ${prices.activePerson} USD for each person`,
    `${usd(prices.tableGigabyteMonth, 2)} USD in DynamoDB, ${usd(prices.backupGigabyteMonth, 2)} USD for its backups`,
    `${prices.objectGigabyteMonth} USD in S3 and ${usd(prices.logGigabyteMonth, 2)} USD in CloudWatch Logs`,
    `${usd(prices.trace * 1e6, 2)} USD for a million traces`,
    `one request a second all month that is ${usd(86_400 * 30 * prices.trace, 2)} USD`,
    `every ${canaryMinutes} minutes`,
    `about ${usd(canary, 2)} USD a month with its metrics`,
    ...Object.entries(awsMillis).map(([service, millis]) => `${millis} ms for each call of ${service}`),
    `${receiverMillis} ms for the customer's receiver`,
    `${initMillis} ms for INIT, in ${coldShare * 100} % of the invocations`,
    `all cold starts, 1,000 successes with a webhook cost ${usd(coldBill(report.kinds['success, webhook'], memory))} USD more`,
    `A state transition (${prices.transition * 1e6} USD a million) costs as much as ${Math.round(prices.transition / prices.invocation)} invocations of a function or ${Math.round(prices.transition / prices.writeUnit)} write units`,
  ];
}
