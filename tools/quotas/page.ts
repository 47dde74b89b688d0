/** The tables of docs/deploying.md about quotas. A test compares them with the page. */
import { awsDefaults, awsDefaultsReadAt, type AwsQuotaName } from './aws-defaults.ts';
import { needsOf, quotasFor, type Traffic } from './quotas.ts';

const rates = [10, 100, 1_000];
const times = [15, 60];
const kinds = ['synchronous', 'job'] as const;

const traffics: readonly Traffic[] = rates.flatMap((perSecond) =>
  kinds.flatMap((kind) => times.map((seconds) => ({ perSecond, seconds, kind, isPolled: true }))),
);

const figure = (value: number | 'shared'): string =>
  value === 'shared' ? value : value.toLocaleString('en-US');

/** The figure, bold where it is above the default of AWS in the large regions. */
function asked(name: AwsQuotaName, value: number): string {
  return value > awsDefaults[name].large ? `**${figure(value)}**` : figure(value);
}

/** For each traffic, what it needs of an account. */
export function quotasTable(): string {
  return table(
    [
      'Creations a second',
      'Vendor',
      'Executions',
      'Starts',
      'Transitions',
      'Task ends',
      'Write units',
      'Read units',
      'Requests',
    ],
    traffics.map((traffic) => {
      const needs = needsOf(traffic);
      return [...rowNames(traffic), ...quotaColumns.map((name) => asked(name, needs[name]))];
    }),
  );
}

const quotaColumns = [
  'lambdaConcurrency',
  'startExecutionPerSecond',
  'stateTransitionsPerSecond',
  'sendTaskPerSecond',
  'tableWriteUnits',
  'tableReadUnits',
  'gatewayRequestsPerSecond',
] as const;

/** For each traffic, the settings that go with the quotas, and what the table has to take at once. */
export function settingsTable(): string {
  return table(
    [
      'Creations a second',
      'Vendor',
      '`serviceCapacity`',
      '`throttling`',
      '`concurrency`: api, deliveries, refunds, reconciler',
      'Warm write units',
      'Warm read units',
    ],
    traffics.map((traffic) => {
      const quotas = quotasFor(traffic);
      const { api, deliveries, refunds, reconciler } = quotas.concurrency;
      return [
        ...rowNames(traffic),
        figure(quotas.serviceCapacity),
        `${figure(quotas.gatewayRequestsPerSecond)}, ${figure(quotas.gatewayBurst)}`,
        [api, deliveries, refunds, reconciler].map(figure).join(', '),
        asked('tableWarmWriteUnits', quotas.tableWarmWriteUnits),
        asked('tableWarmReadUnits', quotas.tableWarmReadUnits),
      ];
    }),
  );
}

/** What AWS gives an account that asked for nothing. */
export function defaultsTable(): string {
  return table(
    [
      `Quota, with its source (read ${awsDefaultsReadAt})`,
      'us-east-1, us-west-2, eu-west-1',
      'other regions',
    ],
    Object.values(awsDefaults).map(({ title, large, other, canBeRaised, source }) => [
      `[${title}](${source})${canBeRaised ? '' : ' (cannot be raised)'}`,
      figure(large),
      figure(other),
    ]),
  );
}

function rowNames({ perSecond, seconds, kind }: Traffic): [string, string] {
  return [figure(perSecond), `${kind === 'job' ? 'calls back' : 'synchronous'}, ${seconds} s`];
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const isFigure = (column: number): boolean => rows.every((row) => /^[\d*,]+$/.test(row[column] ?? ''));
  const rule = heads.map((_head, column) => (isFigure(column) ? '--:' : '---'));
  return [line(heads), line(rule), ...rows.map(line), ''].join('\n');
}
