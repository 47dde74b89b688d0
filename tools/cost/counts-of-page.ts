/** Reads the counts of one creation of each kind from the tables of docs/cost.md, which `npm run cost` has measured. */
import { creationKinds, type CreationCount, type CreationKind } from './measure.ts';
import type { FunctionCount } from './meter.ts';
import { figureTitles, tablesOf } from './page-figures.ts';

/** The service of each operation that the page names. */
const serviceOf: Readonly<Record<string, string>> = {
  BatchGetItem: 'dynamodb',
  GetItem: 'dynamodb',
  Query: 'dynamodb',
  PutItem: 'dynamodb',
  UpdateItem: 'dynamodb',
  DeleteItem: 'dynamodb',
  TransactWriteItems: 'dynamodb',
  TransactGetItems: 'dynamodb',
  StartExecution: 'states',
  DescribeExecution: 'states',
  SendTaskSuccess: 'states',
  PutObject: 's3',
  GetObject: 's3',
  HeadObject: 's3',
  GetSecretValue: 'secretsmanager',
  HTTP: 'vendor',
};

export type PageCounts = Readonly<Record<CreationKind | 'reconciler', CreationCount>>;

/** Throws when the page lacks a figure. */
export function countsOf(page: string): PageCounts {
  const tables = tablesOf(page).filter(([head]) => head?.[0] === figureTitles.kind);
  const functions = tables.find(([head]) => head?.includes(figureTitles.function))?.slice(1) ?? [];
  const [head = [], ...sums] = tables.find(([first]) => !first?.includes(figureTitles.function)) ?? [];
  const sumOf = (title: string, kind: string): number => {
    const row = sums.find(([first]) => first === title);
    return numberOf(row?.[head.indexOf(kind)], `${title} of ${kind}`);
  };
  const counted = [...creationKinds, 'reconciler' as const].map((kind): [string, CreationCount] => [
    kind,
    {
      functions: Object.fromEntries(functions.filter(([first]) => first === kind).map(functionOf)),
      transitions: sumOf(figureTitles.transitions, kind),
      logBytes: sumOf(figureTitles.logBytes, kind),
      storedBytes: sumOf(figureTitles.storedBytes, kind),
    },
  ]);
  return Object.fromEntries(counted) as PageCounts;
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

/** "2 × GetItem" or "GetItem". */
function callOf(text: string): [string, number] {
  const [, times = '1', operation = ''] = /^(?:([\d.]+) × )?(\w+)$/.exec(text) ?? [];
  const service = serviceOf[operation];
  if (service === undefined) throw new Error(`docs/cost.md names the unknown call ${JSON.stringify(text)}`);
  return [`${service} ${operation}`, Number(times)];
}

function numberOf(text: string | undefined, what: string): number {
  const number = Number(text);
  if (text === undefined || text === '' || Number.isNaN(number))
    throw new Error(`docs/cost.md has no figure for ${what}`);
  return number;
}
