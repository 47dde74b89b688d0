/**
 * Alarms, log and runbook agree: lib/alarm-table.ts states an alarm, and docs/alarms.md has its row. The recipe
 * for a new alarm is in docs/contributing.md.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { ServiceMetrics } from '../../lib/service-metrics.ts';
import { failureNames } from '../../service/contract/failures.ts';
import { defaultServiceCapacity } from '../../service/contract/limits.ts';
import { alarmEvents, alarmMetric, type MetricDefinition, metrics } from '../../service/contract/metrics.ts';
import { routeOutcomes } from '../../service/contract/route-outcome.ts';
import { allPages, readPage, sectionOf, tableRows } from '../docs/pages.ts';
import { alarms, type MetricOf, optionalAlarms, watchedBy } from './alarm-words.ts';
import { resourcesOf, wordOf } from './template.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const page = readPage('docs/alarms.md');
const sources = readdirSync(join(root, 'service'), { recursive: true, withFileTypes: true })
  .filter((file) => file.isFile())
  .map((file) => readFileSync(join(file.parentPath, file.name), 'utf8'))
  .join('\n');

/**
 * Metrics of AWS's own services, each with its dimension (the services' user guides, "CloudWatch metrics").
 */
const ofAws: Readonly<Record<string, string>> = {
  'AWS/Lambda Errors': 'FunctionName',
  'AWS/Lambda Invocations': 'FunctionName',
  // Of the whole account in this region.
  'AWS/Lambda UnreservedConcurrentExecutions': '',
  'AWS/DynamoDB ReadThrottleEvents': 'TableName',
  'AWS/DynamoDB WriteThrottleEvents': 'TableName',
  'AWS/DynamoDB TransactionConflict': 'TableName',
  'AWS/States ExecutionThrottled': 'StateMachineArn',
  'AWS/ApiGateway Count': 'ApiId',
  'AWS/Lambda Throttles': 'FunctionName',
  'AWS/States ExecutionsFailed': 'StateMachineArn',
  'AWS/States ExecutionsTimedOut': 'StateMachineArn',
  'AWS/States ExecutionsAborted': 'StateMachineArn',
  'AWS/ApiGateway 5xx': 'ApiId',
  // Of a REST API.
  'AWS/ApiGateway 5XXError': 'ApiName',
};

/** Metrics that AWS also counts by other dimensions: of an index, and of a REST API. */
const furtherOfAws: typeof ofAws = {
  'AWS/DynamoDB ReadThrottleEvents': 'GlobalSecondaryIndexName,TableName',
  'AWS/DynamoDB WriteThrottleEvents': 'GlobalSecondaryIndexName,TableName',
  'AWS/ApiGateway Count': 'ApiName',
};

/** The values of the dimensions of our own metrics. An alarm on another dimension needs its values here. */
const valuesOf: Readonly<Record<string, readonly string[]>> = {
  'CreationsFailed failure': failureNames,
  'OperatorAlarms event': alarmEvents,
  'ProviderAnswers outcome': routeOutcomes,
  'WebhookAttempts outcome': ['delivered', 'failed'],
};

function isEmitted({ Namespace, MetricName, Dimensions = [] }: MetricOf): boolean {
  const names = Dimensions.map(({ Name }) => Name);
  if (Namespace !== 'Darkroom')
    return [ofAws, furtherOfAws].some((known) => known[`${Namespace} ${MetricName}`] === names.join());
  const definitions: readonly Omit<MetricDefinition, 'event'>[] = [...metrics, alarmMetric];
  const isMeasuredBy = definitions.some(
    ({ name, dimensions }) =>
      name === MetricName && dimensions.some((set) => [...set].sort().join() === [...names].sort().join()),
  );
  return (
    isMeasuredBy &&
    Dimensions.every(({ Name, Value }) => valuesOf[`${MetricName} ${Name}`]?.includes(String(Value)) === true)
  );
}

describe('an alarm', () => {
  it.each(alarms)('The alarm $name watches metrics that AWS or the service emits', (alarm) => {
    for (const metric of watchedBy(alarm))
      expect({ ...metric, isEmitted: isEmitted(metric) }).toMatchObject({ isEmitted: true });
  });

  it.each([...alarms, ...optionalAlarms])(
    'The alarm $name describes its meaning to a customer, what to do, and where the runbook is',
    ({ name, AlarmDescription }) => {
      expect(AlarmDescription).toMatch(/^[A-Z].{30,}\. What to do: .{20,}\. See docs\/alarms\.md#/);
      expect(AlarmDescription.endsWith(`See docs/alarms.md#${name.toLowerCase()}`)).toBe(true);
      expect(page.anchors).toContain(name.toLowerCase());
      expect(AlarmDescription.length).toBeLessThanOrEqual(1_024);
    },
  );
});

/** A row of the table of alarms in docs/alarms.md: what the alarm means, and what to do. */
interface Row {
  readonly name: string;
  /** The alarm for little traffic, which has no row of its own: "RequestsFailingForHours". */
  readonly forHours?: string;
  readonly meaning: string;
  readonly action: string;
}

const rows: readonly Row[] = tableRows(sectionOf(page, '## Alarms')).map(
  ([cell = '', meaning = '', action = '']) => {
    const name = cell.replace(/<.*>/, '');
    const forHours = `${name}ForHours`;
    return {
      name,
      meaning,
      action,
      ...(cell.includes(`<a id="${forHours.toLowerCase()}">`) && { forHours }),
    };
  },
);

describe('the table of alarms in docs/alarms.md', () => {
  it('The table has every alarm and no other, in the order of the alphabet', () => {
    const names = [...alarms, ...optionalAlarms].map(({ name }) => name);
    expect(
      rows.flatMap(({ name, forHours }) => [name, ...(forHours === undefined ? [] : [forHours])]),
    ).toEqual(names.sort());
  });

  it.each(rows)('The row of $name says what the alarm means to a customer and what to do first', (row) => {
    expect(row.meaning).toMatch(/^[A-Z0-9].{10,}/);
    expect(row.action).toMatch(/.{10,}/);
  });

  it.each(alarms)('The row of $name names the event of the log that the alarm counts', (alarm) => {
    const row = rows.find(({ name, forHours }) => [name, forHours].includes(alarm.name));
    for (const { MetricName, Dimensions = [] } of watchedBy(alarm))
      if (MetricName === 'OperatorAlarms')
        expect(row?.action).toContain(`\`${wordOf(Dimensions[0]?.Value)}\``);
  });

  it.each(rows.filter(({ forHours }) => forHours))('$forHours watches what $name watches', (row) => {
    const watched = [row.name, row.forHours].map((wanted) =>
      alarms.filter(({ name }) => name === wanted).map(watchedBy),
    );
    expect(watched[0]).toHaveLength(1);
    expect(watched[1]).toEqual(watched[0]);
  });
});

describe('the alarms', () => {
  it('Alarms that compute with several metrics use each metric, with one period, and count with each', () => {
    const computing = alarms.filter(({ Metrics = [] }) => Metrics.some(({ Expression }) => Expression));
    expect(computing.length).toBeGreaterThan(0);
    for (const { name, Metrics = [] } of computing) {
      const formulas = Metrics.flatMap(({ Expression }) => Expression ?? []);
      const parts = Metrics.flatMap(({ Id, MetricStat }) => (MetricStat ? [{ Id, ...MetricStat }] : []));
      expect(formulas, name).toHaveLength(1);
      expect(new Set(formulas[0]?.match(/\b[a-z]\w*\b/g)), name).toEqual(new Set(parts.map(({ Id }) => Id)));
      expect(new Set(parts.map(({ Period }) => Period)).size, name).toBe(1);
      // API Gateway documents the number of its requests as this statistic.
      for (const { Stat, Metric } of parts)
        expect(Stat, name).toBe(Metric.MetricName === 'Count' ? 'SampleCount' : 'Sum');
    }
  });

  it('Alarms notify the topic of their end as well as of their beginning', () => {
    for (const { AlarmActions, OKActions } of alarms) {
      expect(AlarmActions.map(wordOf)).toEqual(['@AlarmsTopic']);
      expect(OKActions).toEqual(AlarmActions);
    }
  });
});

describe('The pages of the documentation', () => {
  // Pages of the past keep their numbers.
  const pages = allPages().filter(({ path }) => !/^(CHANGELOG|docs\/(decisions|measurements)\/)/.test(path));
  const counts = pages.flatMap(({ path, text }) =>
    [...text.matchAll(/\b(\d+) alarms\b/g)].map(([, count]) => ({ path, count: Number(count) })),
  );

  it('A page that counts the alarms has the number of a stack without payments', () => {
    expect(counts.map(({ path }) => path)).toContain('docs/cost.md');
    const byDefault = alarms.filter(({ name }) => !name.startsWith('Payment'));
    for (const one of counts) expect(one).toEqual({ path: one.path, count: byDefault.length });
  });

  it('The row of CapacityNearlyUsed names the threshold and the capacity of the service', () => {
    const threshold = alarms.find(({ name }) => name === 'CapacityNearlyUsed')?.Threshold ?? 0;
    const row = rows.find(({ name }) => name === 'CapacityNearlyUsed');
    expect(row?.meaning.match(/\d,\d{3}/g)).toEqual(
      [threshold, defaultServiceCapacity, defaultServiceCapacity].map((count) =>
        count.toLocaleString('en-US'),
      ),
    );
  });
});

describe('an event of the log', () => {
  const literals = (pattern: RegExp): string[] =>
    [...new Set([...sources.matchAll(pattern)].map(([, event = '']) => event))].sort();

  it('An event that is logged as an alarm is in the list of alarm events', () => {
    expect(
      literals(/log\.alarm\(\s*'(\w+)'/g).filter((event) => !alarmEvents.some((known) => known === event)),
    ).toEqual([]);
  });

  it.each(alarmEvents)(
    'The event %s is logged, watched by an alarm, and explained in docs/alarms.md',
    (event) => {
      expect(sources).toContain(`'${event}'`);
      expect(page.text).toContain(`\`${event}\``);
      // The alarm BooksOutOfBalance watches the metric of the daily audit instead of this event.
      if (event === 'books_out_of_balance') return;
      const watched = alarms
        .flatMap(watchedBy)
        .flatMap(({ Dimensions = [] }) => Dimensions)
        .filter(({ Name }) => Name === 'event')
        .map(({ Value }) => Value);
      expect(watched).toContain(event);
    },
  );

  it('An event that a metric counts is logged under its name', () => {
    for (const { event } of metrics) expect(literals(/log\.info\(\s*'(\w+)'/g), event).toContain(event);
  });
});

describe('the dashboard', () => {
  it('The dashboard exists once', () => {
    expect(resourcesOf('AWS::CloudWatch::Dashboard')).toHaveLength(1);
  });

  it('The dashboard searches for metrics by dimensions that the metrics have', () => {
    const [[, dashboard] = []] = resourcesOf('AWS::CloudWatch::Dashboard');
    const text = JSON.stringify(dashboard?.Properties['DashboardBody']).replaceAll('\\', '');
    const searched = [
      ...text.matchAll(/SEARCH\('\{Darkroom,([\w,]+)\} MetricName="(\w+)"', '(\w+)', (\d+)\)/g),
    ].map(([, dimensions, name, statistic, seconds]) => [name, dimensions, statistic, seconds]);
    expect(searched).toEqual([
      ['ProviderAnswers', 'provider,providerModel,outcome', 'Sum', '300'],
      ['ProviderTime', 'provider,providerModel', 'p95', '300'],
    ]);
    const definitions: readonly MetricDefinition[] = metrics;
    for (const [name, dimensions] of searched) {
      expect(
        definitions.some(
          (metric) => metric.name === name && metric.dimensions.some((set) => set.join() === dimensions),
        ),
        name,
      ).toBe(true);
    }
  });

  it('The dashboard cannot show a metric by dimensions that the metric does not have', () => {
    const own = new ServiceMetrics('Darkroom');
    expect(() => own.of('CreationsFailed', { by: { model: 'sandbox-pro' } })).toThrow(
      'the metric CreationsFailed is not measured by model',
    );
    expect(() => own.of('WebhookAttempts')).toThrow('the metric WebhookAttempts is not measured by nothing');
    const by = { provider: 'openai', providerModel: 'gpt-image-2', outcome: 'timed_out' };
    expect(() => own.of('ProviderAnswers', { by })).toThrow('no provider answer has the outcome timed_out');
    expect(own.of('ProviderAnswers', { by: { ...by, outcome: 'GenerationTimedOut' } })).toBeDefined();
  });
});
