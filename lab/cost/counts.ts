/** The measured counts in docs/cost.md: the tables that have them, and how a later run reads and keeps them. */
import { type CreationCount, creationKinds, type Measured } from './measure.ts';
import type { FunctionCount } from './meter.ts';

/** The first cells of the rows in which the figures stand. */
const titles = {
  kind: 'Of one',
  function: 'Function',
  transitions: 'State transitions',
  logBytes: 'Log bytes',
  storedBytes: 'Stored bytes',
} as const;

export const usd = (amount: number, decimals = 4): string => amount.toFixed(decimals);
const count = (value: number): string => String(Math.round(value * 100) / 100);

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
  const head = [
    titles.kind,
    titles.function,
    'Invocations',
    'CPU ms',
    'Read units',
    'Write units',
    'AWS calls',
  ];
  const sums = [
    [titles.transitions, ...counts.map(([, { transitions }]) => count(transitions))],
    [titles.logBytes, ...counts.map(([, { logBytes }]) => String(logBytes))],
    [titles.storedBytes, ...counts.map(([, { storedBytes }]) => String(storedBytes))],
  ];
  return [table(head, rows), table([titles.kind, ...counts.map(([kind]) => kind)], sums)];
}

/** "2 × GetItem, PutItem". */
function callsOf(calls: ReadonlyMap<string, number>): string {
  return [...calls]
    .map(([label, times]) => `${times === 1 ? '' : `${count(times)} × `}${label.split(' ')[1] ?? ''}`)
    .join(', ');
}

/** The services by the names of their operations. */
const services = [
  ['states', /Execution$|^SendTask/],
  ['s3', /Object$/],
  ['secretsmanager', /^GetSecretValue$/],
  ['vendor', /^HTTP$/],
  ['dynamodb', /Items?$|^Query$/],
] as const;

/** "2 × GetItem" or "GetItem". */
function callOf(text: string): [string, number] {
  const [, times = '1', operation = ''] = /^(?:([\d.]+) × )?(\w+)$/.exec(text) ?? [];
  const service = services.find(([, pattern]) => pattern.test(operation))?.[0];
  if (service === undefined) throw new Error(`docs/cost.md names the unknown call ${JSON.stringify(text)}`);
  return [`${service} ${operation}`, Number(times)];
}

/** The counts of one creation of each kind, which `npm run cost` has measured. Throws when the page lacks a figure. */
export function countsOf(page: string): Measured {
  const tables = page
    .split('\n\n')
    .map(cellsOf)
    .filter(([head]) => head?.[0] === titles.kind);
  const functions = tables.find(([head]) => head?.includes(titles.function))?.slice(1) ?? [];
  const [head = [], ...sums] = tables.find(([first]) => !first?.includes(titles.function)) ?? [];
  const sumOf = (title: string, kind: string): number =>
    numberOf(sums.find(([first]) => first === title)?.[head.indexOf(kind)], `${title} of ${kind}`);
  const counted = (kind: string): CreationCount => ({
    functions: Object.fromEntries(functions.filter(([first]) => first === kind).map(functionOf)),
    transitions: sumOf(titles.transitions, kind),
    logBytes: sumOf(titles.logBytes, kind),
    storedBytes: sumOf(titles.storedBytes, kind),
  });
  const kinds = Object.fromEntries(creationKinds.map((kind) => [kind, counted(kind)])) as Measured['kinds'];
  return { kinds, reconciler: counted('reconciler') };
}

/** The cells of a table by row. Its second line only aligns the columns. */
function cellsOf(block: string): string[][] {
  const lines = block.split('\n').filter((line) => line.startsWith('|') && !line.startsWith('| --'));
  return lines.map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

/** Kind, function, invocations, CPU ms, read units, write units, calls. */
function functionOf(cells: readonly string[]): [string, FunctionCount] {
  const [kind = '', name = '', invocations, cpu, reads, writes, calls = ''] = cells;
  const what = `${name} of ${kind}`;
  return [
    name,
    {
      invocations: numberOf(invocations, what),
      cpuMillis: numberOf(cpu, what),
      readUnits: numberOf(reads, what),
      writeUnits: numberOf(writes, what),
      storedBytes: 0,
      calls: new Map(calls.split(', ').filter(Boolean).map(callOf)),
    },
  ];
}

function numberOf(text: string | undefined, what: string): number {
  const number = Number(text);
  if (text === undefined || text === '' || Number.isNaN(number))
    throw new Error(`docs/cost.md has no figure for ${what}`);
  return number;
}

/** CPU time is near when it is between half and double of the old one, or differs from it by less than this. */
const nearMillis = 2;
/** Log bytes are near when they differ by at most this share of the old ones. */
const nearShare = 0.05;

/**
 * The measured counts, with the figures of the committed page where the new ones are near them. CPU time and log
 * bytes differ a little in every run: another program shares the processor, and a duration in a log line has one
 * digit more. All other counts are the same in every run, so an unchanged program gives an unchanged page.
 */
export function keepFigures({ kinds, reconciler }: Measured, before?: Measured): Measured {
  const kept = creationKinds.map((kind) => [kind, keptCount(kinds[kind], before?.kinds[kind])]);
  return {
    kinds: Object.fromEntries(kept) as Measured['kinds'],
    reconciler: keptCount(reconciler, before?.reconciler),
  };
}

function keptCount(now: CreationCount, before: CreationCount | undefined): CreationCount {
  const functions = Object.entries(now.functions).map(([name, one]): [string, FunctionCount] => [
    name,
    { ...one, cpuMillis: keptMillis(one.cpuMillis, before?.functions[name]?.cpuMillis) },
  ]);
  return {
    ...now,
    functions: Object.fromEntries(functions),
    logBytes: keptBytes(now.logBytes, before?.logBytes),
    storedBytes: keptBytes(now.storedBytes, before?.storedBytes),
  };
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
