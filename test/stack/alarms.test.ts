/** Alarms, dashboard and log hold together: what an alarm watches is emitted, what is emitted as an alarm is watched, and each is explained. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { failureNames } from '../../core/failure.ts';
import { alarmEvents, alarmMetric, metrics, type MetricDefinition } from '../../core/metrics.ts';
import { ServiceMetrics } from '../../lib/service-metrics.ts';
import { nameOf, resourcesOf } from './template.ts';

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

/** What AWS's own services emit, with the dimensions of one of ours (their user guides, "CloudWatch metrics"). */
const ofAws: Readonly<Record<string, string>> = {
  'AWS/Lambda Errors': 'FunctionName',
  'AWS/Lambda Throttles': 'FunctionName',
  'AWS/States ExecutionsFailed': 'StateMachineArn',
  'AWS/States ExecutionsTimedOut': 'StateMachineArn',
  'AWS/States ExecutionsAborted': 'StateMachineArn',
  'AWS/ApiGateway 5xx': 'ApiId',
};

/** The values that the dimensions of ours have. */
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
  it.each(alarms)('$name watches what is really emitted', (alarm) => {
    for (const metric of watchedBy(alarm))
      expect({ ...metric, isEmitted: isEmitted(metric) }).toMatchObject({ isEmitted: true });
  });

  it.each(alarms)(
    '$name says what it means to a customer and what to do, and where more of it stands',
    ({ name, AlarmDescription, AlarmActions }) => {
      expect(AlarmDescription).toMatch(/^[A-Z].{30,}\. What to do: .{20,}\. See docs\/operations\.md#/);
      expect(AlarmDescription.endsWith(`See docs/operations.md#${name.toLowerCase()}`)).toBe(true);
      expect(AlarmDescription.length).toBeLessThanOrEqual(1_024);
      expect(AlarmActions).toHaveLength(1);
    },
  );

  it('has its section in docs/operations.md, and no section has lost its alarm', () => {
    const chapter = operations.slice(
      operations.indexOf('\n## Alarms\n'),
      operations.indexOf('\n## ', operations.indexOf('\n## Alarms\n') + 1),
    );
    const sections = [...chapter.matchAll(/^### (\w+)$/gm)].map(([, name]) => name);
    expect(sections).toEqual(alarms.map(({ name }) => name).sort());
  });
});

describe('the alarms', () => {
  /** Statistic, seconds of a period, threshold, periods in a row, and what silence means. */
  const fromOne = ['Sum', 300, '>= 1', 1, 'notBreaching'];
  const from = (threshold: number, statistic = 'Sum'): unknown[] => [
    statistic,
    300,
    `>= ${threshold}`,
    1,
    'notBreaching',
  ];
  const ofEvent = (event: string): string[] => [`Darkroom OperatorAlarms event=${event}`];
  const throttled = [
    'GenerateImage',
    'GetCreation',
    'RenderImage',
    'RefundCharge',
    'DeliverWebhook',
    'Reconcile',
  ];
  const comparisons: Readonly<Record<string, string>> = {
    GreaterThanOrEqualToThreshold: '>=',
    LessThanThreshold: '<',
  };

  function rowOf({
    Metrics,
    Statistic,
    Period,
    ComparisonOperator,
    Threshold,
    EvaluationPeriods,
    TreatMissingData,
    ...metric
  }: AlarmProperties): unknown[] {
    const sums = Metrics?.flatMap(({ Expression }) => Expression ?? []) ?? [];
    const [stat] = Metrics?.flatMap(({ MetricStat }) => MetricStat ?? []) ?? [];
    const valueOf = (value: unknown): string =>
      typeof value === 'string' ? value : nameOf(String(Object.values(value as object).flat()[0]));
    const text = ({ Namespace, MetricName, Dimensions = [] }: MetricOf): string =>
      [Namespace, MetricName, ...Dimensions.map(({ Name, Value }) => `${Name}=${valueOf(Value)}`)].join(' ');
    const watched = Metrics ? Metrics.flatMap(({ MetricStat }) => MetricStat?.Metric ?? []) : [metric];
    return [
      [...watched.map(text), ...sums],
      Statistic ?? stat?.Stat,
      Period ?? stat?.Period,
      `${comparisons[ComparisonOperator] ?? ComparisonOperator} ${Threshold}`,
      EvaluationPeriods,
      TreatMissingData,
    ];
  }

  it('are this table', () => {
    expect(Object.fromEntries(alarms.map((alarm) => [alarm.name, rowOf(alarm)]))).toEqual({
      AuditFailing: [['AWS/Lambda Errors FunctionName=AuditBooks'], ...fromOne],
      BooksOutOfBalance: [['Darkroom BooksOutOfBalance'], 'Maximum', 300, '>= 1', 1, 'ignore'],
      CapacityNearlyUsed: [['Darkroom OpenCreations'], ...from(1_600, 'Maximum')],
      CreationsPastDeadline: [ofEvent('creation_past_deadline'), ...fromOne],
      CreationsRecoveredAgain: [ofEvent('creation_recovered_again'), ...fromOne],
      ExecutionsFailing: [
        [
          ...['Failed', 'TimedOut', 'Aborted'].map(
            (end) => `AWS/States Executions${end} StateMachineArn=CreationStateMachine`,
          ),
          'FILL(m0, 0) + FILL(m1, 0) + FILL(m2, 0)',
        ],
        ...fromOne,
      ],
      FunctionsThrottled: [
        [
          ...throttled.map((name) => `AWS/Lambda Throttles FunctionName=${name}`),
          throttled.map((_name, index) => `FILL(m${index}, 0)`).join(' + '),
        ],
        ...fromOne,
      ],
      ImagesNotStored: [ofEvent('image_not_stored'), ...fromOne],
      InternalFailures: [['Darkroom CreationsFailed failure=InternalFailure'], ...from(3)],
      ProviderAnswersUnknown: [ofEvent('provider_answer_unknown'), ...fromOne],
      ProviderCallsBreaking: [ofEvent('provider_call_broke'), ...fromOne],
      ProviderCredentialsRefused: [ofEvent('provider_refused_credentials'), ...fromOne],
      ProvidersUnavailable: [['Darkroom CreationsFailed failure=ServiceUnavailable'], ...from(5)],
      ReconcilerNotRunning: [['Darkroom ReconcilerRuns'], 'Sum', 60, '< 1', 5, 'breaching'],
      ReconcilingFailing: [ofEvent('reconcile_failed'), ...from(3)],
      RefundNotMade: [ofEvent('refund_not_made'), ...fromOne],
      RefundsFailing: [['AWS/Lambda Errors FunctionName=RefundCharge'], ...from(3)],
      RequestsFailing: [ofEvent('request_failed'), ...fromOne],
      RequestsShed: [['Darkroom RequestsShed'], ...from(10)],
      ServerErrors: [['AWS/ApiGateway 5xx ApiId=ApiHttpApi'], ...from(5)],
      StartsRefused: [ofEvent('start_refused'), ...fromOne],
      WebhookDeliveriesBroken: [ofEvent('webhook_delivery_broke'), ...fromOne],
      WebhookSecretsLost: [ofEvent('webhook_secret_lost'), ...fromOne],
    });
  });

  it('tell of their end as well as of their begin', () => {
    for (const { AlarmActions, OKActions } of alarms) expect(OKActions).toEqual(AlarmActions);
  });
});

describe('an event that an operator has to look at', () => {
  const literals = (pattern: RegExp): string[] =>
    [...new Set([...sources.matchAll(pattern)].map(([, event = '']) => event))].sort();

  it('is known by its name wherever it is logged', () => {
    expect(
      literals(/log\.alarm\(\s*'(\w+)'/g).filter((event) => !alarmEvents.some((known) => known === event)),
    ).toEqual([]);
  });

  it.each(alarmEvents)('%s is logged, watched by an alarm, and explained', (event) => {
    expect(sources).toContain(`'${event}'`);
    expect(operations).toContain(`\`${event}\``);
    // The audit comes once a day: what it found is watched until the next one.
    if (event === 'books_out_of_balance') return;
    const watched = alarms
      .flatMap(watchedBy)
      .flatMap(({ Dimensions = [] }) => Dimensions)
      .filter(({ Name }) => Name === 'event')
      .map(({ Value }) => Value);
    expect(watched).toContain(event);
  });

  it('that is measured is logged under its name', () => {
    for (const { event } of metrics) expect(literals(/log\.info\(\s*'(\w+)'/g), event).toContain(event);
  });

  it('that is measured has each of its metrics explained', () => {
    for (const { name } of [...metrics, alarmMetric]) expect(operations).toContain(`\`${name}\``);
  });
});

describe('the dashboard', () => {
  it('is one', () => {
    expect(resourcesOf('AWS::CloudWatch::Dashboard')).toHaveLength(1);
  });

  it('searches for metrics by the dimensions that they are measured by', () => {
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

  it('cannot show a metric that is not measured so', () => {
    const own = new ServiceMetrics('Darkroom');
    expect(() => own.of('CreationsFailed', { by: { model: 'sandbox-pro' } })).toThrow(
      'the metric CreationsFailed is not measured by model',
    );
    expect(() => own.of('WebhookAttempts')).toThrow('the metric WebhookAttempts is not measured by nothing');
  });
});
