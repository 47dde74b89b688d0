/** How creations use AWS: the committed counts in counts.json, their tables, and which of them a new run keeps. */
import committed from './counts.json' with { type: 'json' };

/** The sums of one function over all of its invocations, or their average for one creation. */
export interface FunctionCount {
  invocations: number;
  cpuMillis: number;
  readUnits: number;
  writeUnits: number;
  /** The number of calls by service and operation, such as "dynamodb BatchGetItem". */
  readonly calls: Record<string, number>;
}

/** The use of AWS by one creation, as an average over all measured creations. */
export interface CreationCount {
  readonly functions: Readonly<Record<string, FunctionCount>>;
  readonly transitions: number;
  /** The bytes that the functions log themselves. */
  readonly logBytes: number;
  /** The bytes that stay in the table. */
  readonly storedBytes: number;
}

/**
 * The measured kinds of creations. A 'poll' is one GET of a creation that has ended. The job of a 'callback' is
 * rendered by fal, which calls back; the others are rendered by the sandbox.
 */
export const creationKinds = [
  'success',
  'success, webhook',
  'success, webhook, Idempotency-Key',
  'success, webhook, callback',
  'failure, webhook',
  'poll',
] as const;
export type CreationKind = (typeof creationKinds)[number];
export type Kinds = Readonly<Record<CreationKind, CreationCount>>;

export interface Measured {
  readonly kinds: Kinds;
  /** One run of the reconciler that finds nothing to do. */
  readonly reconciler: CreationCount;
}

/** The counts with which docs/cost.md was written. */
export const committedCounts: Measured = committed;

export const usd = (amount: number, decimals = 4): string => amount.toFixed(decimals);

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const edge = head.map((_cell, index) => (index === 0 ? '---' : '---:'));
  return [head, edge, ...rows].map(line).join('\n');
}

/** The tables of the section "Where the figures come from". */
export function countTables({ kinds, reconciler }: Measured): readonly [functions: string, sums: string] {
  const counts = [
    ...creationKinds.map((kind) => [kind, kinds[kind]] as const),
    ['reconciler', reconciler] as const,
  ];
  const rows = counts.flatMap(([kind, { functions }]) =>
    Object.entries(functions).map(([name, { invocations, cpuMillis, readUnits, writeUnits, calls }]) => [
      kind,
      name,
      String(invocations),
      cpuMillis.toFixed(1),
      String(readUnits),
      String(writeUnits),
      callsOf(calls),
    ]),
  );
  const head = ['Of one', 'Function', 'Invocations', 'CPU ms', 'Read units', 'Write units', 'AWS calls'];
  const sums = [
    ['State transitions', ...counts.map(([, { transitions }]) => String(transitions))],
    ['Log bytes', ...counts.map(([, { logBytes }]) => String(logBytes))],
    ['Stored bytes', ...counts.map(([, { storedBytes }]) => String(storedBytes))],
  ];
  return [table(head, rows), table(['Of one', ...counts.map(([kind]) => kind)], sums)];
}

/** "2 × GetItem, PutItem". */
function callsOf(calls: FunctionCount['calls']): string {
  return Object.entries(calls)
    .map(([label, times]) => `${times === 1 ? '' : `${times} × `}${label.slice(label.indexOf(' ') + 1)}`)
    .join(', ');
}

/** CPU time is near when it is between half and double of the old one, or differs from it by less than this. */
const nearMillis = 2;
/** Log bytes are near when they differ by at most this share of the old ones. */
const nearShare = 0.05;

/**
 * The measured counts, rounded as the page prints them, with the committed figures where the new ones are near them.
 * CPU time and log bytes differ a little in every run: another program shares the processor, and a duration in a log
 * line has one digit more. All other counts are the same in every run, so an unchanged program gives an unchanged
 * page.
 */
export function keepFigures({ kinds, reconciler }: Measured, before?: Measured): Measured {
  const kept = creationKinds.map((kind) => [kind, keptCount(kinds[kind], before?.kinds[kind])] as const);
  return {
    kinds: Object.fromEntries(kept) as Record<CreationKind, CreationCount>,
    reconciler: keptCount(reconciler, before?.reconciler),
  };
}

function keptCount(now: CreationCount, before: CreationCount | undefined): CreationCount {
  return {
    functions: mapValues(now.functions, ({ invocations, cpuMillis, readUnits, writeUnits, calls }, name) => ({
      invocations: hundredths(invocations),
      cpuMillis: keptMillis(cpuMillis, before?.functions[name]?.cpuMillis),
      readUnits: hundredths(readUnits),
      writeUnits: hundredths(writeUnits),
      calls: mapValues(calls, hundredths),
    })),
    transitions: hundredths(now.transitions),
    logBytes: keptBytes(now.logBytes, before?.logBytes),
    storedBytes: keptBytes(now.storedBytes, before?.storedBytes),
  };
}

export function mapValues<From, To>(
  record: Readonly<Record<string, From>>,
  change: (value: From, name: string) => To,
): Record<string, To> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value, name)]));
}

function hundredths(value: number): number {
  return Math.round(value * 100) / 100;
}

function keptMillis(now: number, before: number | undefined): number {
  const isNear =
    before !== undefined && (Math.abs(now - before) < nearMillis || (now >= before / 2 && now <= before * 2));
  return isNear ? before : Number(now.toFixed(1));
}

function keptBytes(now: number, before: number | undefined): number {
  const isNear = before !== undefined && Math.abs(now - before) <= nearShare * before;
  return isNear ? before : Math.round(now);
}
