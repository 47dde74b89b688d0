/** The text of docs/cost.md, from the measured counts. */
import { billFor, billParts, idleBill, totalOf, waitFor, type Memory, type Standing } from './bill.ts';
import { creationKinds, type CreationCount, type CreationKind } from './measure.ts';
import { figureTitles } from './page-figures.ts';
import { awsMillis, prices, pricesReadAt, receiverMillis } from './prices.ts';

export interface CostReport {
  readonly kinds: Readonly<Record<CreationKind, CreationCount>>;
  readonly memory: Memory;
  readonly standing: Standing;
}

const usd = (amount: number, decimals = 4): string => amount.toFixed(decimals);
const count = (value: number): string => String(Math.round(value * 100) / 100);

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [
    line(head),
    line(head.map((_cell, index) => (index === 0 ? '---' : '---:'))),
    ...rows.map(line),
  ].join('\n');
}

/** The CPU time of RenderImage without a painting: that of a creation that fails. */
export function ownRenderMillis(kinds: CostReport['kinds']): number {
  return kinds['failure, webhook'].functions['RenderImage']?.cpuMillis ?? 0;
}

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
      ['State transitions', ...counts.map(([, { transitions }]) => count(transitions))],
      [figureTitles.logBytes, ...counts.map(([, { logBytes }]) => String(logBytes))],
    ],
  );
}

function waitTable(report: CostReport): string {
  const base = totalOf(
    billFor(report.kinds['success, webhook'], report.memory, ownRenderMillis(report.kinds)),
  );
  const rows = [0, 10, 30, 120].map((seconds) => {
    const wait = waitFor(seconds, report.memory);
    return [`${seconds} s`, usd(wait), usd(base + wait)];
  });
  return table(['The provider takes', 'waiting, USD', 'all of a success with a webhook, USD'], rows);
}

function idleTable({ standing }: CostReport): string {
  const bill = idleBill(standing);
  const rows = Object.entries(bill).map(([part, amount]) => [part, usd(amount, 2)]);
  return table(['A month', 'USD'], [...rows, ['**All**', `**${usd(totalOf(bill), 2)}**`]]);
}

/** The whole page, in Markdown. */
export function costPage(report: CostReport): string {
  const success = report.kinds['success, webhook'];
  return `# What it costs

Written by \`npm run cost\`, which runs creations through the local service and counts what each asks of AWS: calls, read and write units, state transitions, invocations, milliseconds. Prices of us-east-1, read on ${pricesReadAt} ([tools/cost/prices.ts](../tools/cost/prices.ts) has each with its page), without free tiers. Not in it: what a provider charges ([the catalog](providers.md#the-catalog)), and the traffic and storage of images.

## 1,000 creations

A success takes ${count(success.transitions)} state transitions, webhook included. Here the provider answers at once.

${billTable(report)}

## While a provider takes its time

RenderImage waits with ${report.memory['RenderImage'] ?? 0} MB of memory and renews its lease every two seconds. For 1,000 creations:

${waitTable(report)}

## When nobody asks

${idleTable(report)}

CloudWatch gives ten alarms, ten metrics and three dashboards for nothing, which leaves about half of it. The table, the bucket and the log groups cost what lies in them: 0.25 USD a GB and month in DynamoDB and 0.20 for its backups (point-in-time recovery), 0.023 in S3, 0.03 in CloudWatch Logs.

## Where the figures come from

${countTable(report)}

${logTable(report)}

- "CPU ms" is how long an invocation had the processor of the machine that measured; for RenderImage with the sandbox's painting, which no vendor does with our processor: the bill takes what a rendering that fails needs. A function has a share of a processor by its memory (a whole one at 1,769 MB), by which the bill stretches it. Waiting is assumed: ${Object.entries(
    awsMillis,
  )
    .map(([service, millis]) => `${millis} ms for each call of ${service}`)
    .join(', ')}, and ${receiverMillis} ms for the customer's receiver.
- CPU time and log bytes differ a little from run to run. \`npm run cost\` keeps the figure of this page while the new CPU time is between half and double of the old one or differs by less than 2 ms, and while the new log bytes differ by at most 5 %. All amounts follow from the figures in these tables.
- Units by the size of the items, as DynamoDB counts them: double in a transaction, and one more for each change of an entry in an index.
- A creation's item holds its prompt: above 1 KB in all, each write of it costs one unit more.
- A state transition (${prices.transition * 1e6} USD a million) costs as much as ${Math.round(prices.transition / prices.invocation)} invocations of a function or ${Math.round(prices.transition / prices.writeUnit)} write units. That is why a creation takes two, and its webhook is a state that retries and not a loop.
`;
}
