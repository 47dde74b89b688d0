/**
 * Alarms, log and runbook agree. lib/alarm-table.ts states an alarm, and docs/operations.md explains it: a
 * new alarm touches these two files and no test.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { failureNames } from '../../core/failure.ts';
import { alarmEvents, alarmMetric, metrics, type MetricDefinition } from '../../core/metrics.ts';
import { ServiceMetrics } from '../../lib/service-metrics.ts';
import { resourcesOf, wordOf } from './template.ts';

interface MetricOf {
  readonly Namespace: string;
  readonly MetricName: string;
  readonly Dimensions?: readonly { readonly Name: string; readonly Value: unknown }[];
}

interface AlarmProperties extends MetricOf {
  readonly Statistic?: string;
  readonly Period?: number;
  readonly ComparisonOperator: string;
  readonly Threshold: number;
  readonly EvaluationPeriods: number;
  readonly TreatMissingData: string;
  readonly AlarmName: string;
  readonly AlarmDescription: string;
  readonly AlarmActions: readonly unknown[];
  readonly OKActions: readonly unknown[];
  readonly Metrics?: readonly {
    readonly Expression?: string;
    readonly MetricStat?: { readonly Metric: MetricOf; readonly Stat: string; readonly Period: number };
  }[];
}

const alarms = resourcesOf('AWS::CloudWatch::Alarm')
  .map(([, { Properties }]) => Properties as unknown as AlarmProperties)
  .map((alarm) => ({ ...alarm, name: alarm.AlarmName.replace('Darkroom-', '') }));
const watchedBy = (alarm: AlarmProperties): readonly MetricOf[] =>
  alarm.Metrics?.flatMap(({ MetricStat }) => MetricStat?.Metric ?? []) ?? [alarm];

const root = fileURLToPath(new URL('../..', import.meta.url));
const operations = readFileSync(join(root, 'docs/operations.md'), 'utf8');
const sources = readdirSync(join(root, 'functions'), { recursive: true, withFileTypes: true })
  .filter((file) => file.isFile())
  .map((file) => readFileSync(join(file.parentPath, file.name), 'utf8'))
  .join('\n');

/**
 * Metrics of AWS's own services, each with its dimension (the services' user guides, "CloudWatch metrics").
 */
const ofAws: Readonly<Record<string, string>> = {
  'AWS/Lambda Errors': 'FunctionName',
  'AWS/Lambda Throttles': 'FunctionName',
  'AWS/States ExecutionsFailed': 'StateMachineArn',
  'AWS/States ExecutionsTimedOut': 'StateMachineArn',
  'AWS/States ExecutionsAborted': 'StateMachineArn',
  'AWS/ApiGateway 5xx': 'ApiId',
};

/** The values of the dimensions of our own metrics. */
const valuesOf: Readonly<Record<string, readonly string[]>> = { event: alarmEvents, failure: failureNames };

function isEmitted({ Namespace, MetricName, Dimensions = [] }: MetricOf): boolean {
  const names = Dimensions.map(({ Name }) => Name);
  if (Namespace !== 'Darkroom') return ofAws[`${Namespace} ${MetricName}`] === names.join();
  const definitions: readonly Omit<MetricDefinition, 'event'>[] = [...metrics, alarmMetric];
  const isMeasuredBy = definitions.some(
    ({ name, dimensions }) => name === MetricName && dimensions.some((set) => set.join() === names.join()),
  );
  return (
    isMeasuredBy && Dimensions.every(({ Name, Value }) => valuesOf[Name]?.includes(String(Value)) === true)
  );
}

describe('an alarm', () => {
  it.each(alarms)('The alarm $name watches metrics that AWS or the service emits', (alarm) => {
    for (const metric of watchedBy(alarm))
      expect({ ...metric, isEmitted: isEmitted(metric) }).toMatchObject({ isEmitted: true });
  });

  it.each(alarms)(
    'The alarm $name describes its meaning to a customer, what to do, and where the runbook is',
    ({ name, AlarmDescription, AlarmActions }) => {
      expect(AlarmDescription).toMatch(/^[A-Z].{30,}\. What to do: .{20,}\. See docs\/operations\.md#/);
      expect(AlarmDescription.endsWith(`See docs/operations.md#${name.toLowerCase()}`)).toBe(true);
      expect(AlarmDescription.length).toBeLessThanOrEqual(1_024);
      expect(AlarmActions).toHaveLength(1);
    },
  );
});

/**
 * A row of the table of alarms in docs/operations.md: name, link, what the alarm watches, from which value
 * on.
 */
interface Row {
  readonly name: string;
  readonly link: string;
  readonly watches: string;
  readonly from: string;
}

const chapter = operations.slice(
  operations.indexOf('\n## Alarms\n'),
  operations.indexOf('\n## ', operations.indexOf('\n## Alarms\n') + 1),
);
const rows: readonly Row[] = [...chapter.matchAll(/^\| \[(\w+)\]\((\S+)\) +\| (.+?) +\| (.+?) +\|$/gm)].map(
  ([, name = '', link = '', watches = '', from = '']) => ({ name, link, watches, from }),
);

/** What an alarm watches, in the words of the table. */
function watchesText(alarm: AlarmProperties): string {
  const metrics = watchedBy(alarm);
  const names = [...new Set(metrics.map(({ MetricName }) => MetricName))];
  const code = names.map((name) => `\`${name}\``).join(', ');
  const dimensions = metrics.flatMap(({ Dimensions = [] }) => Dimensions);
  const values = dimensions.map(({ Value }) => wordOf(Value).replace('@', ''));
  switch (metrics[0]?.Namespace) {
    case 'AWS/Lambda':
      return `${code} of ${values.join(', ')}`;
    case 'AWS/ApiGateway':
      return `${code} of the API`;
    case 'AWS/States':
      return code;
    default:
      if (names.join() === 'OperatorAlarms') return `event \`${values.join()}\``;
      return dimensions.reduce((text, { Name, Value }) => `${text} with \`${Name}: ${wordOf(Value)}\``, code);
  }
}

/**
 * From which value on an alarm begins, in the words of the table. Other settings than these have no words
 * yet.
 */
function fromText(alarm: AlarmProperties): string {
  const [stat] = alarm.Metrics?.flatMap(({ MetricStat }) => MetricStat ?? []) ?? [];
  const { Threshold: threshold, EvaluationPeriods: periods, TreatMissingData: silence } = alarm;
  const minutes = ((alarm.Period ?? stat?.Period ?? 0) * periods) / 60;
  const kind = `${alarm.Statistic ?? stat?.Stat ?? ''} ${alarm.ComparisonOperator} ${periods} ${silence}`;
  switch (kind) {
    case 'Sum GreaterThanOrEqualToThreshold 1 notBreaching':
      return `${threshold} in ${minutes} min`;
    case 'Sum LessThanThreshold 5 breaching':
      return threshold === 1 ? `none for ${minutes} min` : kind;
    case 'Maximum GreaterThanOrEqualToThreshold 1 notBreaching':
      return minutes === 5 ? threshold.toLocaleString('en-US') : kind;
    case 'Maximum GreaterThanOrEqualToThreshold 1 ignore':
      return minutes === 5 ? `${threshold}, until an audit finds none` : kind;
    default:
      return kind;
  }
}

describe('the table of alarms in docs/operations.md', () => {
  it('The table in the operations page has a row for every alarm and no other row, in the order of the alphabet', () => {
    expect(rows.map(({ name }) => name)).toEqual(alarms.map(({ name }) => name).sort());
    for (const { name, link } of rows) expect(link).toBe(`#${name.toLowerCase()}`);
  });

  it.each(alarms)(
    'The table in the operations page says of $name what it watches and when it begins',
    (alarm) => {
      const row = rows.find(({ name }) => name === alarm.name);
      expect([row?.watches, row?.from]).toEqual([watchesText(alarm), fromText(alarm)]);
    },
  );

  it('The operations page has a section below the table for every alarm and no other section', () => {
    const sections = [...chapter.matchAll(/^### (\w+)$/gm)].map(([, name]) => name);
    expect(sections).toEqual(alarms.map(({ name }) => name).sort());
  });
});

describe('the alarms', () => {
  it('Alarms that watch several metrics add the metrics up, and a metric without a value counts 0', () => {
    for (const { Metrics = [] } of alarms) {
      const sums = Metrics.flatMap(({ Expression }) => Expression ?? []);
      const parts = Metrics.filter(({ MetricStat }) => MetricStat).map(
        (_part, index) => `FILL(m${index}, 0)`,
      );
      expect(sums).toEqual(parts.length < 2 ? [] : [parts.join(' + ')]);
      if (sums.length > 0)
        for (const { MetricStat } of Metrics.filter((part) => part.MetricStat))
          expect([MetricStat?.Stat, MetricStat?.Period]).toEqual(['Sum', 300]);
    }
  });

  it('Alarms tell the topic of their end as well as of their beginning', () => {
    for (const { AlarmActions, OKActions } of alarms) {
      expect(AlarmActions.map(wordOf)).toEqual(['@AlarmsTopic']);
      expect(OKActions).toEqual(AlarmActions);
    }
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
    'The event %s is logged, watched by an alarm, and explained in docs/operations.md',
    (event) => {
      expect(sources).toContain(`'${event}'`);
      expect(operations).toContain(`\`${event}\``);
      // The alarm BooksOutOfBalance watches the metric of the daily audit in the place of this event.
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

  it('An event that a metric counts has each of its metrics explained in docs/operations.md', () => {
    for (const { name } of [...metrics, alarmMetric]) expect(operations).toContain(`\`${name}\``);
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
