/** From counts to money: what 1,000 creations cost, part by part. Pure. */
import type { CreationCount } from './measure.ts';
import { awsMillis, platformLogBytes, prices, receiverMillis } from './prices.ts';

/** USD by part. */
export interface Bill {
  readonly 'State transitions': number;
  readonly 'Table writes': number;
  readonly 'Table reads': number;
  readonly 'Functions, time': number;
  readonly 'Functions, invocations': number;
  readonly 'API requests': number;
  readonly 'Storing the image': number;
  readonly Logs: number;
}

/** Of the API's access log. */
const accessLogBytes = 350;

/** MB of memory by a function's name. */
export type Memory = Readonly<Record<string, number>>;

/** What a thousand of them cost. The sandbox paints with our own processor, which no vendor does: `ownRenderMillis` is what a rendering takes without. */
export function billFor(measured: CreationCount, memory: Memory, ownRenderMillis: number): Bill {
  const count = withoutPainting(measured, ownRenderMillis);
  const functions = Object.entries(count.functions);
  const sum = (of: (entry: (typeof functions)[number]) => number): number =>
    1000 * functions.reduce((total, entry) => total + of(entry), 0);
  const invocations = sum(([, { invocations: times }]) => times);
  const logBytes = 1000 * (count.logBytes + accessLogBytes) + invocations * platformLogBytes;
  return {
    'State transitions': 1000 * count.transitions * prices.transition,
    'Table writes': sum(([, { writeUnits }]) => writeUnits) * prices.writeUnit,
    'Table reads': sum(([, { readUnits }]) => readUnits) * prices.readUnit,
    'Functions, time': sum(([name]) => gigabyteSeconds(name, count, memory)) * prices.gigabyteSecond,
    'Functions, invocations': invocations * prices.invocation,
    'API requests': 1000 * prices.apiRequest,
    'Storing the image': sum(([, { calls }]) => calls.get('s3 PutObject') ?? 0) * prices.objectPut,
    Logs: (logBytes / 1e9) * prices.logGigabyte,
  };
}

function withoutPainting(count: CreationCount, ownRenderMillis: number): CreationCount {
  const { RenderImage: render, ...others } = count.functions;
  if (!render) return count;
  return {
    ...count,
    functions: {
      RenderImage: { ...render, cpuMillis: Math.min(render.cpuMillis, ownRenderMillis) },
      ...others,
    },
  };
}

export function totalOf(bill: Bill | Readonly<Record<string, number>>): number {
  return Object.values<number>({ ...bill }).reduce((sum, usd) => sum + usd, 0);
}

/** A thousand creations whose provider takes so long: RenderImage waits, and renews its lease every two seconds. */
export function waitFor(seconds: number, memory: Memory): number {
  const renewals = Math.floor(seconds / 2);
  const gigabytes = (memory['RenderImage'] ?? 0) / 1024;
  return 1000 * (seconds * gigabytes * prices.gigabyteSecond + renewals * prices.writeUnit);
}

/** MB of memory with which a function has one whole processor; with less, as much less of it (Lambda developer guide, "Configure memory"). */
const oneProcessor = 1_769;

/**
 * As Lambda bills it: the processor's time stretched to the function's share of one, what
 * AWS takes over its answers, and the customer's receiver.
 */
function gigabyteSeconds(name: string, { functions }: CreationCount, memory: Memory): number {
  const count = functions[name];
  const megabytes = memory[name] ?? 0;
  if (!count) return 0;
  const own = count.cpuMillis * Math.max(1, oneProcessor / megabytes);
  const aws = [...count.calls].reduce(
    (sum, [label, calls]) => sum + calls * awsMillis[label.split(' ')[0] as keyof typeof awsMillis],
    0,
  );
  const receiver = name === 'DeliverWebhook' && count.writeUnits > 0 ? receiverMillis : 0;
  return ((own + aws + receiver) / 1000) * (megabytes / 1024);
}

/** What stands in the template and is billed by the month. */
export interface Standing {
  readonly alarms: number;
  readonly metrics: number;
  readonly dashboards: number;
  readonly secrets: number;
  /** Of one run of the reconciler with nothing to do. */
  readonly reconciler: { readonly count: CreationCount; readonly memory: Memory };
}

const minutesAMonth = 60 * 24 * 30;

/** A month in which nobody sends a request, USD by part. */
export function idleBill({
  alarms,
  metrics,
  dashboards,
  secrets,
  reconciler: { count, memory },
}: Standing): Readonly<Record<string, number>> {
  const run = count.functions['Reconcile'];
  const aRun = run
    ? run.readUnits * prices.readUnit +
      run.writeUnits * prices.writeUnit +
      prices.invocation +
      gigabyteSeconds('Reconcile', count, memory) * prices.gigabyteSecond +
      ((count.logBytes + platformLogBytes) / 1e9) * prices.logGigabyte
    : 0;
  return {
    [`${alarms} alarms`]: alarms * prices.alarmMonth,
    [`${metrics} metrics of the reconciler and the audit`]: metrics * prices.metricMonth,
    [`${dashboards} dashboard`]: dashboards * prices.dashboardMonth,
    [`${secrets} secrets`]: secrets * prices.secretMonth,
    'The reconciler, once a minute': minutesAMonth * aRun,
  };
}
