/** The tables of docs/operations.md, "Quotas for a crowd". A test compares them with the page. */
import { awsDefaults, awsDefaultsReadAt } from './aws-defaults.ts';
import { quotasFor, type Quotas, type Traffic } from './quotas.ts';

/** How often a client asks on average. The service tells clients how long to wait: at most 10 s. */
export const usualPollSeconds = 5;

const rates = [10, 60, 100, 300, 1_000];
const times = [15, 60];
const kinds = ['synchronous', 'job'] as const;

const traffics: readonly Traffic[] = rates.flatMap((perSecond) =>
  kinds.flatMap((kind) =>
    times.map((seconds) => ({ perSecond, seconds, kind, pollEverySeconds: usualPollSeconds })),
  ),
);

const figure = (value: number | 'shared'): string =>
  value === 'shared' ? value : value.toLocaleString('en-US');

/** For each traffic, the quotas that an account needs. */
export function quotasTable(): string {
  return table(
    [
      'Creations a second',
      'Vendor',
      'Lambda: executions',
      'Step Functions: starts / transitions / SendTask',
      'DynamoDB: write / read units',
      'API Gateway: requests',
    ],
    traffics.map((traffic) => {
      const quotas = quotasFor(traffic);
      return [
        ...rowNames(traffic),
        figure(quotas.lambdaConcurrency),
        figures(quotas, 'startExecutionPerSecond', 'stateTransitionsPerSecond', 'sendTaskPerSecond'),
        figures(quotas, 'tableWriteUnits', 'tableReadUnits'),
        figure(quotas.gatewayRequestsPerSecond),
      ];
    }),
  );
}

/** For each traffic, the settings that go with the quotas. */
export function settingsTable(): string {
  return table(
    [
      'Creations a second',
      'Vendor',
      '`serviceCapacity`',
      '`throttling`',
      '`concurrency`: api, deliveries, refunds, reconciler',
      'warm write units',
    ],
    traffics.map((traffic) => {
      const quotas = quotasFor(traffic);
      const { api, deliveries, refunds, reconciler } = quotas.concurrency;
      return [
        ...rowNames(traffic),
        figure(quotas.serviceCapacity),
        figures(quotas, 'gatewayRequestsPerSecond', 'gatewayBurst'),
        [api, deliveries, refunds, reconciler].map(figure).join(', '),
        figure(quotas.tableWarmWriteUnits),
      ];
    }),
  );
}

/** What AWS gives an account that asked for nothing. */
export function defaultsTable(): string {
  return table(
    ['Quota', 'us-east-1, us-west-2, eu-west-1', 'other regions', `Source (read ${awsDefaultsReadAt})`],
    Object.values(awsDefaults).map(({ title, large, other, canBeRaised, source }) => [
      canBeRaised ? title : `${title} (cannot be raised)`,
      figure(large),
      figure(other),
      `[AWS](${source})`,
    ]),
  );
}

function rowNames({ perSecond, seconds, kind }: Traffic): [string, string] {
  return [figure(perSecond), `${kind === 'job' ? 'calls back' : 'synchronous'}, ${seconds} s`];
}

type FigureName = Exclude<keyof Quotas, 'concurrency'>;

function figures(quotas: Quotas, ...names: readonly FigureName[]): string {
  return names.map((name) => figure(quotas[name])).join(' / ');
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(heads), line(heads.map(() => '---')), ...rows.map(line), ''].join('\n');
}
