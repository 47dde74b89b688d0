/** The text of docs/cost.md, from the measured counts. */
import { billFor, billParts, looksFor, renderedBy, totalOf, userCapBill, waitFor } from './bill.ts';
import { leaseRenewMillis } from '../../core/limits.ts';
import { ownRenderMillis, pictures } from './estimate.ts';
import { eventBill, lookSeconds } from './events.ts';
import { heldBill } from './held.ts';
import { creationKinds, type CreationCount } from './measure.ts';
import { figureTitles } from './page-figures.ts';
import {
  idleTable,
  picturesText,
  pollTable,
  priceTable,
  switchesText,
  vendorTable,
} from './page-sections.ts';
import { count, table, usd } from './page-table.ts';
import { viewBill, viewNames, viewParts } from './portal.ts';
import { awsMillis, prices, pricesReadAt, receiverMillis } from './prices.ts';
import type { CostReport } from './cost-report.ts';
import { vendorTitles } from './vendors.ts';

/** Seconds that a provider takes. */
const waits = [15, 60, 120] as const;

function billTable({ kinds, memory }: CostReport): string {
  const bills = creationKinds.map((kind) => billFor(kinds[kind], memory, ownRenderMillis(kinds)));
  const rows = billParts.map((part): string[] => [part, ...bills.map((bill) => usd(bill[part]))]);
  return table(
    ['USD for 1,000', ...creationKinds],
    [...rows, ['**All**', ...bills.map((bill) => `**${usd(totalOf(bill))}**`)]],
  );
}

/** Every count from which the bills are computed, by kind. The last one is one run of the reconciler. */
function allCounts({ kinds, standing }: CostReport): [string, CreationCount][] {
  const ofKinds = creationKinds.map((kind): [string, CreationCount] => [kind, kinds[kind]]);
  return [...ofKinds, ['reconciler', standing.reconciler.count]];
}

function countTable(report: CostReport): string {
  const rows = allCounts(report).flatMap(([kind, { functions }]) =>
    Object.entries(functions).map(([name, one]) => [
      kind,
      name,
      count(one.invocations),
      one.cpuMillis.toFixed(1),
      count(one.readUnits),
      count(one.writeUnits),
      callsOf(one.calls),
    ]),
  );
  const { kind, function: name, cpu } = figureTitles;
  return table([kind, name, 'Invocations', cpu, 'Read units', 'Write units', 'AWS calls'], rows);
}

function callsOf(calls: ReadonlyMap<string, number>): string {
  return [...calls]
    .map(([label, times]) => `${times === 1 ? '' : `${count(times)} × `}${label.split(' ')[1] ?? ''}`)
    .join(', ');
}

function logTable(report: CostReport): string {
  const counts = allCounts(report);
  return table(
    [figureTitles.kind, ...counts.map(([kind]) => kind)],
    [
      [figureTitles.transitions, ...counts.map(([, { transitions }]) => count(transitions))],
      [figureTitles.logBytes, ...counts.map(([, { logBytes }]) => String(logBytes))],
      [figureTitles.storedBytes, ...counts.map(([, { storedBytes }]) => String(storedBytes))],
    ],
  );
}

function waitTable(report: CostReport): string {
  const rows = Object.entries(pictures).map(([renderer, picture]) => [
    picture,
    String(report.memory[renderer] ?? 0),
    ...waits.map((seconds) => usd(waitFor(seconds, renderer, report.memory))),
    ...waits.map((seconds) => usd(successAfter(seconds, renderer, report))),
  ]);
  const head = ['waiting', 'all'].flatMap((what) => waits.map((seconds) => `${what}, ${seconds} s`));
  return table(['Picture', 'MB', ...head], rows);
}

function userCapTable(): string {
  const { charged, refunded } = userCapBill();
  const head = ['USD for 1,000', 'creation', 'creation that is refunded'];
  return table(head, [['A cap for each user', usd(charged), usd(refunded)]]);
}

function eventTable({ memory }: CostReport): string {
  const { written, placedAlone, placedInCrowd, heldRead, listeningMonth } = eventBill(memory);
  return table(
    ['What', 'USD'],
    [
      ['1,000 ends of an account that reads events', usd(written)],
      ['1,000 events that are read one by one', usd(placedAlone)],
      ['1,000 events that are read 100 at a time', usd(placedInCrowd)],
      ['1,000 reads that are held for 20 s', usd(heldRead)],
      ['A month of one client that always holds a read', usd(listeningMonth, 2)],
    ],
  );
}

/** What it costs to hold 1,000 requests until their images are there. */
export function heldTable({ memory }: Pick<CostReport, 'memory'>): string {
  return table(
    ['USD for 1,000', ...waits.map((seconds) => `${seconds} s`)],
    [['held', ...waits.map((seconds) => usd(heldBill(seconds, memory)))]],
  );
}

/** What 1,000 views of pages of the portal cost. */
export function viewTable({ memory }: Pick<CostReport, 'memory'>): string {
  const bills = viewNames.map((name) => viewBill(name, memory));
  const rows = viewParts.map((part) => [part, ...bills.map((bill) => usd(bill[part]))]);
  return table(
    ['USD for 1,000', ...viewNames],
    [...rows, ['**All**', ...bills.map((bill) => `**${usd(totalOf(bill))}**`)]],
  );
}

/** What 1,000 successes with a webhook and a callback cost in an account that reads events, in USD. */
function readSuccess({ kinds, memory }: CostReport): number {
  const bill = billFor(kinds['success, webhook, callback'], memory, ownRenderMillis(kinds));
  return totalOf(bill) + eventBill(memory).written;
}

/** What 1,000 successes with a webhook cost when this renderer waits for so long, in USD. */
export function successAfter(
  seconds: number,
  renderer: string,
  { kinds, memory }: Pick<CostReport, 'kinds' | 'memory'>,
): number {
  const count = renderedBy(renderer, kinds['success, webhook']);
  return totalOf(billFor(count, memory, ownRenderMillis(kinds))) + waitFor(seconds, renderer, memory);
}

function memoryText({ memory }: CostReport, name: string): string {
  return String(memory[name] ?? 0);
}

/** The whole page, in Markdown. */
export function costPage(report: CostReport): string {
  const success = report.kinds['success, webhook'];
  return `# What it costs

\`npm run cost -- --write\` writes this page. It runs creations through the local service and counts how each of them uses AWS: calls, read and write units, state transitions, invocations and CPU time. The prices are those of us-east-1, read on ${pricesReadAt} ([tools/cost/prices.ts](../tools/cost/prices.ts) names the source of each price), without free tiers. The page does not include what the providers bill ([the catalog](providers.md#the-catalog)).

For your own figures: \`npm run cost -- --vendor fal --creations 100000 --seconds 15\` prints what a month costs. \`--polls\` is for customers who poll, in place of a webhook. \`--picture 4K\` and \`--picture sources\` take the larger renderers, \`--megabytes\` sets the size of a picture, and \`--json\` gives data.

## 1,000 creations

A success takes ${count(success.transitions)} state transitions, with or without a webhook. A state that is entered and each retry of a state count as one transition. AWS does not say whether the start and the end of an execution count as well ([Task tokens](task-tokens.md)). In this table, the provider answers at once.

${billTable(report)}

A creation of an account with an address for notices costs one look more: one call that reads two items, ${usd(looksFor(report.memory), 6)} USD for 1,000. Only a crossing writes: a transaction of two items, an execution with two state transitions, and the attempts of the notice.

## While a provider works

A renderer holds the connection to a provider that answers in one call, and it asks for the state of a job until the job has ended. Its memory depends on the picture ([decision 4](decisions/0004-one-execution-per-creation.md)), and it renews its lease every ${leaseRenewMillis / 1000} s. A heartbeat of a task is no transition and costs nothing. USD for 1,000 creations: the waiting alone, and all of a success with a webhook.

${waitTable(report)}

A vendor that calls back (${vendorTitles('callback')}) costs nothing while it works ([decision 7](decisions/0007-callbacks-and-cancels.md)): the column "success, webhook, callback" of the first table holds for 1 s as for 60 s. A lost callback costs one more state transition and one more invocation of the renderer for each minute.

## Everything, by kind of vendor

1,000 creations that end with a 1K picture without source images: the service, the wait, the polls, the picture that is stored and fetched once, the traffic, and the records in the first month. With a webhook nobody polls. A client that polls waits as long as the service says.

${vendorTable(report)}

- Answers in one call: ${vendorTitles('synchronous')}.
- Calls back: ${vendorTitles('callback')}.
- Is asked about its job: ${vendorTitles('polled')}.

## Polls

An open creation answers a poll with the time of the next one, by the usual time of its provider ([decision 9](decisions/0009-routes-that-learn.md)). How many polls a client makes until it has an image that takes its usual time, and what they cost for 1,000 creations in USD:

${pollTable(report)}

## Pictures, traffic and records

${picturesText(report)}

## A request that is held

The [OpenAI-shaped endpoint](openai.md) holds a request until its image is there. Meanwhile OpenaiImages waits with ${memoryText(report, 'OpenaiImages')} MB, beside the renderer, and looks at the creation every two seconds. This part is computed and not measured. USD for 1,000 requests of one image, on top of what their creations cost:

${heldTable(report)}

Nearly all of the amount is the time of the function. A client that polls, or takes the webhook, costs none of it. A request for several images is held once.

## Caps of a key

A daily, a monthly and a total cap cost nothing: the charge writes the item of the key in any case. A cap for each user keeps a counter for each user and month. This part is computed and not measured: one read unit with the first read, two write units with the charge, and two with a refund. USD for 1,000, on top of the first table.

${userCapTable()}

## Events

An account that never asked for GET /events pays nothing for events: the first table holds. From its first read on, each end of a creation writes one item more in its transaction: 1,000 successes with a webhook and a callback then cost ${usd(readSuccess(report))} USD. The first reader of an event stores its place and deletes the item. This part is computed and not measured. A read that is held looks after ${lookSeconds()} s, and then every 2 s. Each look reads two units.

${eventTable(report)}

A held read occupies a function for its whole time, which is nearly all of its price.

## The portal

1,000 views of pages, computed and not measured anew by each run: the requests of each page, with the read units, calls and CPU time of an account with 30 creations ([tools/cost/portal.ts](../tools/cost/portal.ts)). Each request is one of CloudFront, one of the API and one invocation of PortalRead with ${memoryText(report, 'PortalRead')} MB. The first page also loads three files, and the browser keeps two of them.

${viewTable(report)}

A portal that nobody visits costs two of the secrets in the next table, ${usd(2 * prices.secretMonth, 2)} USD a month. CloudFront has no monthly price. Cognito (plan Essentials) takes ${prices.activePerson} USD for each person who signs in during a month, above 10,000 people who are free. With another issuer there is no user pool. A person takes about 1 KB of the table and an action less than 0.5 KB for 400 days: ten thousand actions a month are at most 66 MB, or 0.03 USD a month with backups.

## A month without requests

${idleTable(report)}

AWS bills an alarm by the metrics that it watches, so an alarm that adds up nine metrics costs as much as nine alarms. It bills a metric of our own for the hours in which it was sent. The schedules of EventBridge, the topic of the alarms with its e-mails, CloudFront, the APIs, the state machines and AWS's own keys have no monthly price.

The free tier of CloudWatch takes ten metrics of alarms, ten metrics of our own and three dashboards off this bill. Stored data cost money for each GB and month: ${usd(prices.tableGigabyteMonth, 2)} USD in DynamoDB, ${usd(prices.backupGigabyteMonth, 2)} USD for its backups (point-in-time recovery), ${prices.objectGigabyteMonth} USD in S3 and ${usd(prices.logGigabyteMonth, 2)} USD in CloudWatch Logs.

${switchesText(report)}

## Where the figures come from

${countTable(report)}

${logTable(report)}

- "CPU ms" is the CPU time of one invocation on the machine that measured. For a renderer it includes the painting of the sandbox, which takes no CPU time of the renderer when a vendor renders. The bill therefore uses the CPU time of a rendering that fails. The memory of a function decides its share of a processor (a whole processor at 1,769 MB), and the bill lengthens the CPU time accordingly. The waiting times are assumptions: ${Object.entries(
    awsMillis,
  )
    .map(([service, millis]) => `${millis} ms for each call of ${service}`)
    .join(', ')}, and ${receiverMillis} ms for the customer's receiver.
- CPU time and log bytes differ a little from run to run. \`npm run cost\` keeps the figure of this page while the new CPU time is between half and double of the old one or differs by less than 2 ms, and while the new log bytes or stored bytes differ by at most 5 %. All amounts follow from the figures in these tables.
- The read and write units follow from the sizes of the items, as DynamoDB counts them. A transaction doubles the units. A new or removed entry of an index takes one more write unit.
- The start and the end of a creation each take one write unit for the counters of open creations ([decision 3](decisions/0003-admission-time-and-capacity.md)).
- A renderer reads the health of a creation's only route at most once a minute. The tables leave this read out.
- "Stored bytes" are those that stay in the table. Counters, leases and other items that expire are not among them.
- The item of a creation contains its prompt. When the item is larger than 1 KB, each write of the item takes one more unit.
- A state transition (${prices.transition * 1e6} USD a million) costs as much as ${Math.round(prices.transition / prices.invocation)} invocations of a function or ${Math.round(prices.transition / prices.writeUnit)} write units. A creation therefore takes only two transitions, and its webhook is one state that retries instead of a loop.

## Prices

USD in us-east-1, on ${pricesReadAt}. "AWS's page" was read in a stored copy that shows the figure. "quoted" was read in other texts, because the stored copies of AWS's page do not show the figure. "not read again" could not be read anywhere this time: the figure is the one that this page has had before.

${priceTable()}
`;
}
