/** The table of docs/capacity.md. A test compares it with the page. */
import { awsDefaults, type AwsQuotaName } from './aws-defaults.ts';
import { needsOf, type Traffic } from './quotas.ts';

const traffics: readonly Traffic[] = (['synchronous', 'job'] as const).map((kind) => ({
  perSecond: 100,
  seconds: 15,
  kind,
  isPolled: true,
}));

const figure = (value: number): string => value.toLocaleString('en-US');

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

function rowNames({ perSecond, seconds, kind }: Traffic): [string, string] {
  return [figure(perSecond), `${kind === 'job' ? 'calls back' : 'synchronous'}, ${seconds} s`];
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const isFigure = (column: number): boolean => rows.every((row) => /^[\d*,]+$/.test(row[column] ?? ''));
  const rule = heads.map((_head, column) => (isFigure(column) ? '--:' : '---'));
  return [line(heads), line(rule), ...rows.map(line), ''].join('\n');
}
