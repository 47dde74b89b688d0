/**
 * What the portal costs, computed from the requests of its pages. The units of a request are those of an account
 * with 30 creations and one person, as the meter of `npm run cost` counted them on 2026-11-22. Later visits of the
 * usage page read the sums of days that are over.
 */
import { billFor, type Bill, type Memory } from './bill.ts';
import type { CreationCount } from './measure.ts';
import { prices } from './prices.ts';

/** One request to PortalRead. */
interface PortalRequest {
  readonly cpuMillis: number;
  readonly readUnits: number;
  readonly tableCalls: number;
}

/** Block, session, person, member and account cost 6 of the units of every request. */
const requests = {
  me: { cpuMillis: 4.6, readUnits: 9, tableCalls: 3 },
  home: { cpuMillis: 4.2, readUnits: 19.5, tableCalls: 6 },
  creations: { cpuMillis: 5.7, readUnits: 32.5, tableCalls: 4 },
  keys: { cpuMillis: 3.1, readUnits: 7, tableCalls: 2 },
  models: { cpuMillis: 2.5, readUnits: 7, tableCalls: 2 },
  ledger: { cpuMillis: 4.3, readUnits: 11, tableCalls: 4 },
  usage: { cpuMillis: 4.7, readUnits: 40.5, tableCalls: 6 },
} as const satisfies Readonly<Record<string, PortalRequest>>;

/** What a page asks for when it is opened: requests of the API, and files. */
interface View {
  readonly asks: readonly (keyof typeof requests)[];
  readonly files: number;
}

/** The first page loads three files: page, script and styles. The other pages load none. */
const views = {
  'the first page': { asks: ['me', 'home'], files: 3 },
  home: { asks: ['home'], files: 0 },
  creations: { asks: ['creations', 'models', 'keys'], files: 0 },
  wallet: { asks: ['keys', 'ledger'], files: 0 },
  usage: { asks: ['usage'], files: 0 },
} as const satisfies Readonly<Record<string, View>>;

export type ViewName = keyof typeof views;
export const viewNames = Object.keys(views) as ViewName[];

/** The parts of the bill of a view, in the order of the page. A view writes nothing and stores nothing. */
export const viewParts = [
  'Table reads',
  'Functions, time',
  'Functions, invocations',
  'API requests',
  'Logs',
  'CloudFront',
] as const;

/** What 1,000 views of a page cost, in USD by part. */
export function viewBill(
  name: ViewName,
  memory: Memory,
): Readonly<Record<(typeof viewParts)[number], number>> {
  const { asks, files }: View = views[name];
  const bills = asks.map((ask) => billFor(countOf(requests[ask]), memory, 0));
  const sum = (part: keyof Bill): number => bills.reduce((total, bill) => total + bill[part], 0);
  const edge = (asks.length + files) * prices.edgeRequest + files * prices.edgeFunction;
  return {
    'Table reads': sum('Table reads'),
    'Functions, time': sum('Functions, time'),
    'Functions, invocations': sum('Functions, invocations'),
    'API requests': sum('API requests'),
    Logs: sum('Logs'),
    CloudFront: 1000 * edge,
  };
}

function countOf({ cpuMillis, readUnits, tableCalls }: PortalRequest): CreationCount {
  const calls = new Map([['dynamodb Query', tableCalls]]);
  return {
    functions: { PortalRead: { invocations: 1, cpuMillis, readUnits, writeUnits: 0, storedBytes: 0, calls } },
    transitions: 0,
    logBytes: 0,
    storedBytes: 0,
  };
}
