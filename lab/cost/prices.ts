import { leaseRenewMillis } from '../../service/contract/limits.ts';
import { isRenderer } from '../function-name.ts';
import type { CreationCount, CreationKind, FunctionCount, Kinds } from './counts.ts';

/**
 * The prices of AWS in us-east-1, in USD. A person who changes a price also changes the date, and then runs
 * `npm run cost -- --write`, which writes docs/cost.md.
 */
export const pricesReadAt = '2026-11-23';

/**
 * How a figure was seen. 'page': in a stored copy of AWS's own page. 'quoted': in several other texts that quote
 * AWS, because the stored copies of AWS's page do not show the figure. 'known': nowhere anew; the figure is the one
 * that this file has had since its first version.
 */
type Seen = 'page' | 'quoted' | 'known';

interface Price {
  /** USD for one unit. */
  readonly usd: number;
  readonly unit: string;
  readonly page: string;
  readonly seen: Seen;
}

const seenAs =
  (seen: Seen) =>
  (usd: number, unit: string, service: string): Price => {
    const page = service.includes('/') ? service : `${service}/pricing`;
    return { usd, unit, page: `https://aws.amazon.com/${page}/`, seen };
  };
const [onPage, quoted, known] = [seenAs('page'), seenAs('quoted'), seenAs('known')];

/** A storage month is a GB that is stored for a month. */
export const priceList = {
  writeUnit: quoted(0.625 / 1e6, 'a write unit of DynamoDB, on demand', 'dynamodb/pricing/on-demand'),
  readUnit: quoted(0.125 / 1e6, 'a read unit of DynamoDB, on demand', 'dynamodb/pricing/on-demand'),
  tableGigabyteMonth: onPage(0.25, 'a GB and month in DynamoDB', 'dynamodb'),
  backupGigabyteMonth: known(0.2, 'a GB and month of point-in-time recovery', 'dynamodb/pricing/on-demand'),
  transition: known(25 / 1e6, 'a state transition of Step Functions (Standard)', 'step-functions'),
  invocation: quoted(0.2 / 1e6, 'an invocation of Lambda', 'lambda'),
  gigabyteSecond: known(0.0000133334, 'a GB-second of Lambda (arm64, first tier)', 'lambda'),
  apiRequest: quoted(1 / 1e6, 'a request of an HTTP API (first tier, up to 512 KB)', 'api-gateway'),
  restRequest: quoted(
    3.5 / 1e6,
    'a request of a REST API (first tier; a streamed answer counts once for each 10 MB)',
    'api-gateway',
  ),
  trafficGigabyte: quoted(
    0.09,
    'a GB from Lambda or API Gateway to the internet (first tier)',
    'ec2/pricing/on-demand',
  ),
  objectPut: known(0.005 / 1e3, 'a PUT of S3', 's3'),
  objectGet: known(0.0004 / 1e3, 'a GET of S3', 's3'),
  objectGigabyteMonth: known(0.023, 'a GB and month in S3 (Standard, first tier)', 's3'),
  secretMonth: known(0.4, 'a secret and month', 'secrets-manager'),
  secretCall: known(0.05 / 1e4, 'a call of Secrets Manager', 'secrets-manager'),
  edgeRequest: known(0.01 / 1e4, 'an HTTPS request of CloudFront (North America)', 'cloudfront'),
  edgeFunction: quoted(0.1 / 1e6, 'a run of a CloudFront Function', 'cloudfront'),
  edgeGigabyte: onPage(
    0.085,
    'a GB from CloudFront to the internet (North America and Europe, first 10 TB)',
    'cloudfront',
  ),
  activePerson: known(0.015, 'a person who signs in with Cognito (Essentials) during a month', 'cognito'),
  logGigabyte: known(0.5, 'a GB that CloudWatch Logs takes in', 'cloudwatch'),
  logGigabyteMonth: known(0.03, 'a GB and month in CloudWatch Logs', 'cloudwatch'),
  alarmMonth: quoted(0.1, 'a metric of an alarm and month (standard resolution)', 'cloudwatch'),
  metricMonth: quoted(
    0.3,
    'a metric of our own and month (first 10,000), billed for the hours in which it was sent',
    'cloudwatch',
  ),
  dashboardMonth: known(3, 'a dashboard and month', 'cloudwatch'),
  trace: onPage(5 / 1e6, 'a trace that X-Ray records', 'xray'),
} satisfies Readonly<Record<string, Price>>;

/** USD for one unit of each. */
export const prices = Object.fromEntries(
  Object.entries(priceList).map(([name, { usd }]) => [name, usd]),
) as Readonly<Record<keyof typeof priceList, number>>;

/**
 * The assumed time of one call to AWS, and of one call to a vendor that calls back. The local service answers
 * almost at once, so this time is added to the measured time. The figures are of the same size as the latency
 * metrics of the services.
 */
export const awsMillis = {
  dynamodb: 6,
  states: 30,
  s3: 40,
  secretsmanager: 20,
  /** A request to the vendor's queue or for the image. The wait for the rendering is not in it. */
  vendor: 300,
} as const;
/** The assumed time in which a customer's receiver answers a webhook. */
export const receiverMillis = 150;
/**
 * The assumed time of INIT, which Lambda bills since August 2025: three times what a fresh process of Node takes here
 * to load a bundle, 74 to 114 ms. `npm run admin -- evidence` measures INIT in AWS.
 */
export const initMillis = 300;
/** The assumed share of cold starts: AWS found fewer of them when it announced that INIT is billed. */
export const coldShare = 0.01;
/** The lines START, END and REPORT, which Lambda itself logs for every invocation. */
const platformLogBytes = 330;
/** The length of one line in the access log of an API. */
export const accessLogBytes = 350;

/** The parts of a bill, in the order of the page. */
export const billParts = [
  'State transitions',
  'Table writes',
  'Table reads',
  'Functions, time',
  'Functions, invocations',
  'API requests',
  'Storing the image',
  'Storing its thumbnails',
  'Logs',
] as const;

/** USD by part. */
export type Bill = Readonly<Record<(typeof billParts)[number], number>>;

const thumbnailPut = 's3 PutObject of a thumbnail';
/** The CPU time of the thumbnails of a PNG: of 1 megapixel, and of 8. A JPEG takes less. */
export const thumbnailMillis = { small: 65, large: 330 } as const;
/** The units of the write that notes them: a record has more than 1 KB, and less than 2. */
const formsUnits = 2;

/** Each invocation of these functions is one request to the API. */
const apiFunctions = ['GenerateImage', 'GetCreation', 'ReceiveCallback', 'PortalRead'];

/** The memory of each function in MB, by the function's name. */
export type Memory = Readonly<Record<string, number>>;

/** What the measurement knows. */
export interface Measurements {
  readonly kinds: Kinds;
  readonly memory: Memory;
}

/**
 * The cost of 1,000 creations of a kind. The sandbox paints its pictures in the renderer itself, and a vendor does
 * not: the renderer without a painting takes the CPU time of a creation that fails, and that of the thumbnails.
 *
 * @param renderer the renderer, instead of the measured one
 */
export function billOf(kind: CreationKind, { kinds, memory }: Measurements, renderer?: string): Bill {
  const rendererOf = ({ functions }: CreationCount): [string, FunctionCount] | undefined =>
    Object.entries(functions).find(([name]) => isRenderer(name));
  const failed = kinds['failure, webhook'];
  const [name, render] = rendererOf(kinds[kind]) ?? [];
  if (name === undefined || render === undefined) return billFor(kinds[kind], memory);
  const deliveryMillis = attemptsIn(name, render) * (failed.functions['DeliverWebhook']?.cpuMillis ?? 0);
  const makesForms = render.calls[thumbnailPut] !== undefined;
  const formMillis = makesForms
    ? thumbnailMillis[(renderer ?? name) === 'RenderImageSmall' ? 'small' : 'large']
    : 0;
  const ownMillis = (rendererOf(failed)?.[1].cpuMillis ?? 0) + deliveryMillis + formMillis;
  const { [name]: _painting, ...others } = kinds[kind].functions;
  const own = { ...render, cpuMillis: Math.min(render.cpuMillis, ownMillis) };
  return billFor({ ...kinds[kind], functions: { ...others, [renderer ?? name]: own } }, memory);
}

/** What the thumbnails of 1,000 pictures of 1K cost besides their PUTs. */
export function thumbnailsBill(memory: Memory): number {
  const count = {
    ...{ invocations: 0, readUnits: 0, writeUnits: formsUnits, cpuMillis: thumbnailMillis.small },
    calls: { 'dynamodb UpdateItem': 1, [thumbnailPut]: 2 },
  };
  const seconds = gigabyteSeconds(count, 'RenderImageSmall', memory);
  return 1000 * (formsUnits * prices.writeUnit + seconds * prices.gigabyteSecond);
}

/** The cost of 1,000 times this count. */
export function billFor({ functions, ...count }: CreationCount, memory: Memory): Bill {
  const sum = (of: (one: FunctionCount, name: string) => number): number =>
    1000 * Object.entries(functions).reduce((total, [name, one]) => total + of(one, name), 0);
  const invocations = sum((one) => one.invocations);
  const requests = sum((one, name) => (apiFunctions.includes(name) ? one.invocations : 0));
  const time = sum((one, name) => gigabyteSeconds(one, name, memory));
  return {
    'State transitions': 1000 * count.transitions * prices.transition,
    'Table writes': sum((one) => one.writeUnits) * prices.writeUnit,
    'Table reads': sum((one) => one.readUnits) * prices.readUnit,
    'Functions, time': time * prices.gigabyteSecond,
    'Functions, invocations': invocations * prices.invocation,
    'API requests': requests * prices.apiRequest,
    'Storing the image': sum(({ calls }) => calls['s3 PutObject'] ?? 0) * prices.objectPut,
    'Storing its thumbnails': sum(({ calls }) => calls[thumbnailPut] ?? 0) * prices.objectPut,
    Logs: logsCost(1000 * (count.logBytes + accessLogBytes), invocations),
  };
}

/** USD for the logs of invocations: those of the functions and of the API, and Lambda's own lines. */
export function logsCost(bytes: number, invocations = 1): number {
  return ((bytes + invocations * platformLogBytes) / 1e9) * prices.logGigabyte;
}

/** USD for one invocation with these units of the table. */
export function invocationCost(
  { readUnits, writeUnits }: Pick<FunctionCount, 'readUnits' | 'writeUnits'>,
  seconds: number,
  logBytes: number,
): number {
  const units = readUnits * prices.readUnit + writeUnits * prices.writeUnit;
  return units + prices.invocation + seconds * prices.gigabyteSecond + logsCost(logBytes);
}

export function gigabytesOf(name: string, memory: Memory): number {
  return (memory[name] ?? 0) / 1024;
}

/**
 * What 1,000 checks of thresholds cost: DeliverWebhook reads an account and a key, consistently, in one call.
 * Each of the two items is smaller than 4 KB.
 */
export function thresholdChecks(memory: Memory): number {
  const seconds = awsMillis.dynamodb / 1000;
  return (
    1000 * (2 * prices.readUnit + seconds * gigabytesOf('DeliverWebhook', memory) * prices.gigabyteSecond)
  );
}

export function totalOf(bill: Readonly<Record<string, number>>): number {
  return Object.values(bill).reduce((sum, usd) => sum + usd, 0);
}

/** The cost of waiting in 1,000 creations: the renderer waits for the provider, and renews its lease. */
export function waitFor(seconds: number, renderer: string, memory: Memory): number {
  const renewals = Math.floor((seconds * 1000) / leaseRenewMillis);
  return (
    1000 * (seconds * gigabytesOf(renderer, memory) * prices.gigabyteSecond + renewals * prices.writeUnit)
  );
}

/**
 * With this memory in MB, a function has one whole processor. With less memory it has a smaller share of a
 * processor (Lambda developer guide, "Configure memory").
 */
const oneProcessor = 1_769;

/**
 * The time that Lambda bills. It has four parts: the CPU time, which is longer for a function with less than
 * one processor, the time of the calls to AWS, the time of the customer's receiver, and INIT of the cold starts.
 */
export function gigabyteSeconds(count: FunctionCount, name: string, memory: Memory): number {
  const own = count.cpuMillis * Math.max(1, oneProcessor / (memory[name] ?? 0));
  const aws = Object.entries(count.calls).reduce(
    (sum, [label, calls]) => sum + calls * assumedMillis(label),
    0,
  );
  const millis = own + aws + attemptsIn(name, count) * receiverMillis + initIn(count, coldShare);
  return (millis / 1000) * gigabytesOf(name, memory);
}

/** The milliseconds of INIT in all invocations. */
function initIn({ invocations }: FunctionCount, share: number): number {
  return invocations * share * initMillis;
}

/** USD that INIT adds to 1,000 creations of a kind when every invocation is a cold start. */
export function coldBill({ functions }: CreationCount, memory: Memory): number {
  const seconds = Object.entries(functions).map(
    ([name, count]) => (initIn(count, 1) / 1000) * gigabytesOf(name, memory),
  );
  return 1000 * prices.gigabyteSecond * seconds.reduce((sum, one) => sum + one, 0);
}

/** How many attempts of a webhook the function made: it writes the row of an attempt at the begin and at the end. */
function attemptsIn(name: string, { calls }: FunctionCount): number {
  const delivers = name === 'DeliverWebhook' || name === 'ReceiveCallback' || isRenderer(name);
  return delivers ? (calls['dynamodb PutItem'] ?? 0) / 2 : 0;
}

/** "dynamodb BatchGetItem" is a call of dynamodb. */
function assumedMillis(label: string): number {
  const [service = ''] = label.split(' ');
  if (!Object.hasOwn(awsMillis, service)) throw new Error(`no time is assumed for a call of ${service}`);
  // Both thumbnails are stored at once.
  return awsMillis[service as keyof typeof awsMillis] / (label === thumbnailPut ? 2 : 1);
}

/**
 * What the counter of a user, or a token, adds to 1,000 creations, in USD: one more key of the first read, and one
 * more small item in the transactions of the charge and of a refund. A transaction takes two write units for an item
 * of up to 1 KB.
 */
export function oneMoreItemBill(): { readonly charged: number; readonly refunded: number } {
  const write = 1000 * 2 * prices.writeUnit;
  const charged = write + 1000 * prices.readUnit;
  return { charged, refunded: charged + write };
}
