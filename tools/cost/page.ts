/** docs/cost.md, written from what was measured. */
import { billFor, idleBill, totalOf, waitFor, type Memory, type Standing } from './bill.ts';
import { creationKinds, type CreationCount, type CreationKind } from './measure.ts';
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

/** What a rendering takes of the processor without a picture: one that fails. */
export function ownRenderMillis(kinds: CostReport['kinds']): number {
  return kinds['failure, webhook'].functions['RenderImage']?.cpuMillis ?? 0;
}

function billTable({ kinds, memory }: CostReport): string {
  const bills = creationKinds.map((kind) => billFor(kinds[kind], memory, ownRenderMillis(kinds)));
  const parts = Object.keys(bills[0] ?? {}) as (keyof ReturnType<typeof billFor>)[];
  const rows = parts.map((part) => [part, ...bills.map((bill) => usd(bill[part]))]);
  return table(
    ['USD for 1,000', ...creationKinds],
    [...rows, ['**All**', ...bills.map((bill) => `**${usd(totalOf(bill))}**`)]],
  );
}

function countTable({ kinds }: CostReport): string {
  const rows = creationKinds.flatMap((kind) =>
    Object.entries(kinds[kind].functions).map(([name, one]) => [
      kind,
      name,
      count(one.invocations),
      one.cpuMillis.toFixed(1),
      count(one.readUnits),
      count(one.writeUnits),
      [...one.calls]
        .map(([label, calls]) => `${calls === 1 ? '' : `${count(calls)} × `}${label.split(' ')[1] ?? ''}`)
        .join(', '),
    ]),
  );
  return table(
    ['Of one', 'Function', 'Invocations', 'CPU ms', 'Read units', 'Write units', 'AWS calls'],
    rows,
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

/** The whole page. */
export function costPage(report: CostReport): string {
  const success = report.kinds['success, webhook'];
  return `# What it costs

Written by \`npm run cost\`, which runs creations through the local service and counts what each asks of AWS: calls, read and write units, state transitions, invocations, milliseconds. Prices of us-east-1, read on ${pricesReadAt} ([tools/cost/prices.ts](../bin/cost/prices.ts) has each with its page), without free tiers. Not in it: what a provider charges ([the catalog](providers.md#the-catalog)), and the traffic and storage of images.

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

- "CPU ms" is how long an invocation had the processor of the machine that measured; for RenderImage with the sandbox's painting, which no vendor does with our processor: the bill takes what a rendering that fails needs. A function has a share of a processor by its memory (a whole one at 1,769 MB), by which the bill stretches it. Waiting is assumed: ${Object.entries(
    awsMillis,
  )
    .map(([service, millis]) => `${millis} ms for each call of ${service}`)
    .join(', ')}, and ${receiverMillis} ms for the customer's receiver.
- Units by the size of the items, as DynamoDB counts them: double in a transaction, and one more for each change of an entry in an index.
- A creation's item holds its prompt: above 1 KB in all, each write of it costs one unit more.
- A state transition (${prices.transition * 1e6} USD a million) costs as much as ${Math.round(prices.transition / prices.invocation)} invocations of a function or ${Math.round(prices.transition / prices.writeUnit)} write units. That is why a creation takes two, and its webhook is a state that retries and not a loop.
`;
}
