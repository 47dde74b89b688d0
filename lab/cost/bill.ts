/** Computes what 1,000 creations cost, part by part, from the counts of one creation. */
import { leaseRenewMillis } from '../../service/contract/limits.ts';
import { isRenderer } from '../function-name.ts';
import type { CreationCount } from './measure.ts';
import type { FunctionCount } from './meter.ts';
import { accessLogBytes, awsMillis, platformLogBytes, prices, receiverMillis } from './prices.ts';

/** The parts of a bill, in the order of the page. */
export const billParts = [
  'State transitions',
  'Table writes',
  'Table reads',
  'Functions, time',
  'Functions, invocations',
  'API requests',
  'Storing the image',
  'Logs',
] as const;

/** USD by part. */
export type Bill = Readonly<Record<(typeof billParts)[number], number>>;

/** Each invocation of these functions is one request to the API. */
const apiFunctions = ['GenerateImage', 'GetCreation', 'ReceiveCallback', 'PortalRead'];

/** The memory of each function in MB, by the function's name. */
export type Memory = Readonly<Record<string, number>>;

/**
 * The cost of 1,000 creations. The sandbox paints its pictures in the renderer itself, and a vendor does not.
 * `ownRenderMillis` is the CPU time of the renderer without the painting.
 */
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
    'API requests':
      sum(([name, { invocations: times }]) => (apiFunctions.includes(name) ? times : 0)) * prices.apiRequest,
    'Storing the image': sum(([, { calls }]) => calls.get('s3 PutObject') ?? 0) * prices.objectPut,
    Logs: (logBytes / 1e9) * prices.logGigabyte,
  };
}

function withoutPainting(count: CreationCount, ownRenderMillis: number): CreationCount {
  const functions = Object.entries(count.functions).map(([name, one]): [string, FunctionCount] => [
    name,
    isRenderer(name) ? { ...one, cpuMillis: Math.min(one.cpuMillis, ownRenderMillis) } : one,
  ]);
  return { ...count, functions: Object.fromEntries(functions) };
}

/**
 * What 1,000 checks of thresholds cost: DeliverWebhook reads an account and a key, consistently, in one call.
 * Each of the two items is smaller than 4 KB.
 */
export function looksFor(memory: Memory): number {
  const gigabytes = (memory['DeliverWebhook'] ?? 0) / 1024;
  const seconds = (awsMillis['dynamodb'] ?? 0) / 1000;
  return 1000 * (2 * prices.readUnit + seconds * gigabytes * prices.gigabyteSecond);
}

export function totalOf(bill: Bill | Readonly<Record<string, number>>): number {
  return Object.values<number>({ ...bill }).reduce((sum, usd) => sum + usd, 0);
}

/** The count as if this renderer had rendered the measured creations. */
export function renderedBy(renderer: string, count: CreationCount): CreationCount {
  const functions = Object.entries(count.functions).map(([name, one]): [string, FunctionCount] => [
    isRenderer(name) ? renderer : name,
    one,
  ]);
  return { ...count, functions: Object.fromEntries(functions) };
}

/**
 * The cost of waiting in 1,000 creations: the renderer waits for the provider, and renews its lease.
 */
export function waitFor(seconds: number, renderer: string, memory: Memory): number {
  const renewals = Math.floor((seconds * 1000) / leaseRenewMillis);
  const gigabytes = (memory[renderer] ?? 0) / 1024;
  return 1000 * (seconds * gigabytes * prices.gigabyteSecond + renewals * prices.writeUnit);
}

/**
 * With this memory in MB, a function has one whole processor. With less memory it has a smaller share of a
 * processor (Lambda developer guide, "Configure memory").
 */
const oneProcessor = 1_769;

/**
 * The time that Lambda bills. It has three parts: the CPU time, which is longer for a function with less than
 * one processor, the time of the calls to AWS, and the time of the customer's receiver.
 */
export function gigabyteSeconds(name: string, { functions }: CreationCount, memory: Memory): number {
  const count = functions[name];
  const megabytes = memory[name] ?? 0;
  if (!count) return 0;
  const own = count.cpuMillis * Math.max(1, oneProcessor / megabytes);
  const aws = [...count.calls].reduce((sum, [label, calls]) => sum + calls * assumedMillis(label), 0);
  const receiver = name === 'DeliverWebhook' && count.writeUnits > 0 ? receiverMillis : 0;
  return ((own + aws + receiver) / 1000) * (megabytes / 1024);
}

/** "dynamodb BatchGetItem" is a call of dynamodb. */
function assumedMillis(label: string): number {
  const [service = ''] = label.split(' ');
  const millis = awsMillis[service];
  if (millis === undefined) throw new Error(`no time is assumed for a call of ${service}`);
  return millis;
}

/**
 * What a cap for each user adds to 1,000 creations, in USD: the counter of the user is one more key of the
 * first read, and one more small item in the transactions of the charge and of a refund. A transaction takes
 * two write units for an item of up to 1 KB.
 */
export function userCapBill(): { readonly charged: number; readonly refunded: number } {
  const write = 1000 * 2 * prices.writeUnit;
  const charged = write + 1000 * prices.readUnit;
  return { charged, refunded: charged + write };
}
