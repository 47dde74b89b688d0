/** The parts of docs/cost.md about vendors, polls, pictures, the month without requests, and prices. */
import { totalOf } from './bill.ts';
import { estimate, pollBill, serviceBill, trafficMetricsMonth, type Following } from './estimate.ts';
import { fetchedBill, keptDays, storedBill, trafficBill, usualMegabytes } from './images.ts';
import type { CostReport } from './cost-report.ts';
import { table, usd } from './page-table.ts';
import { pollsAt, pollsUntil } from './polls.ts';
import { priceList, prices } from './prices.ts';
import { auditMonth, canaryMonth, idleBill, keptMonth } from './standing.ts';
import { vendorKindOf, vendorKinds, vendorNames, type VendorKind } from './vendors.ts';

const vendorSeconds = [15, 60] as const;
const followings: readonly Following[] = ['webhook', 'polls'];

const kindTitles: Readonly<Record<VendorKind, string>> = {
  synchronous: 'answers in one call',
  callback: 'calls back',
  polled: 'is asked about its job',
};

/** USD for 1,000 creations, all parts together, by the kind of vendor. */
export function vendorTable(report: Pick<CostReport, 'kinds' | 'memory'>): string {
  const columns = vendorSeconds.flatMap((seconds) => followings.map((following) => ({ seconds, following })));
  const rows = vendorKinds.map((kind) => {
    const vendor = vendorNames.find((name) => vendorKindOf(name) === kind) ?? 'sandbox';
    return [
      kindTitles[kind],
      ...columns.map((column) =>
        usd(totalOf(estimate({ ...column, vendor, creations: 1000 }, report).perThousand)),
      ),
    ];
  });
  const head = columns.map(({ seconds, following }) => `${seconds} s, ${following}`);
  return table(['A vendor that', ...head], rows);
}

const polledSeconds = [5, 15, 60, 120] as const;
const fixedPaceSeconds = 2;

/** Polls of one creation, and USD for those of 1,000 creations. */
export function pollTable(report: Pick<CostReport, 'kinds' | 'memory'>): string {
  const one = pollBill(report);
  const cells = (polls: number): string => `${polls} (${usd(polls * one)})`;
  return table(
    ['A client that', ...polledSeconds.map((seconds) => `${seconds} s`)],
    [
      ['waits as the service says', ...polledSeconds.map((seconds) => cells(pollsUntil(seconds)))],
      [
        'does so while nobody knows the usual time',
        ...polledSeconds.map((seconds) => cells(pollsUntil(seconds, false))),
      ],
      [
        `polls every ${fixedPaceSeconds} s`,
        ...polledSeconds.map((seconds) => cells(pollsAt(fixedPaceSeconds, seconds))),
      ],
    ],
  );
}

export function picturesText({ kinds }: Pick<CostReport, 'kinds'>): string {
  const success = kinds['success, webhook'];
  const rows = [
    [`Pictures of ${usualMegabytes} MB in S3, for ${keptDays} days`, usd(storedBill(usualMegabytes))],
    ['Each of them fetched once, through CloudFront', usd(fetchedBill(usualMegabytes))],
    ['Orders to vendors, answers and webhooks, as traffic', usd(trafficBill({ polls: 0, hasWebhook: true }))],
    ['Records in DynamoDB with their backup, a month', usd(keptMonth(success.storedBytes))],
    ['The daily audits of a month, which read these records', usd(auditMonth())],
  ];
  return `This part is computed and not measured. The first picture decides most of a bill: 1 MB that is fetched costs as much as ${Math.round(prices.edgeGigabyte / 1000 / prices.writeUnit)} write units.

${table(['USD for 1,000 creations', 'USD'], rows)}

A picture is deleted after a month. A record stays, so its two rows come again each month: 100,000 creations a month have 1,200,000 records after a year, which then take ${usd(1200 * (keptMonth(success.storedBytes) + auditMonth()), 2)} USD a month. Pictures of other sizes cost in proportion to their size.

Metrics of our own are billed by the month, whatever they count. Steady traffic keeps ${trafficMetricsMonth().metrics} of them alive for one model at one vendor, ${usd(trafficMetricsMonth().usd, 2)} USD. Each further model at a vendor adds at least two, ${usd(2 * prices.metricMonth, 2)} USD.`;
}

/** The items of a month without requests. */
export function idleTable({ standing }: Pick<CostReport, 'standing'>): string {
  const bill = idleBill(standing);
  const rows = Object.entries(bill).map(([part, amount]) => [part, usd(amount, 2)]);
  return table(['A month', 'USD'], [...rows, ['**All**', `**${usd(totalOf(bill), 2)}**`]]);
}

const canaryMinutes = 5;
/** The sandbox answers at once. The canary takes no webhook, and polls. */
const canarySeconds = 1;

/** What the settings add that are off by default. */
export function switchesText(report: Pick<CostReport, 'kinds' | 'memory'>): string {
  const success = totalOf(
    serviceBill(
      { kind: 'synchronous', seconds: canarySeconds, hasWebhook: false, renderer: 'RenderImageSmall' },
      report,
    ),
  );
  const canary = canaryMonth(canaryMinutes, success + 2 * pollBill(report));
  return `Two settings are off by default. \`tracing\`: X-Ray records at most one request a second and 5 % of the others, ${usd(prices.trace * 1e6, 2)} USD for a million traces; at one request a second all month that is ${usd(86_400 * 30 * prices.trace, 2)} USD. \`canary\`: every ${canaryMinutes} minutes it makes and fetches a picture of the sandbox, about ${usd(canary, 2)} USD a month with its metrics, its alarm and its secret.`;
}

const seenTitles = { page: "AWS's page", quoted: 'quoted', known: 'not read again' } as const;

export function priceTable(): string {
  const rows = Object.values(priceList).map(({ usd: price, unit, page, seen }) => [
    unit,
    plain(price),
    `[${seenTitles[seen]}](${page})`,
  ]);
  return table(['Price of', 'USD', 'Seen'], rows);
}

/** Without an exponent. */
function plain(price: number): string {
  return price >= 0.001 ? String(price) : `${Number((price * 1e6).toPrecision(6))} for a million`;
}
