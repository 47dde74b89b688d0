/** The whole dashboard: each graph with its place and its metrics on the left and the right axis. */
import { describe, expect, it } from 'vitest';
import { failureNames } from '../../core/failure.ts';
import { resolved, resourcesOf, wordOf } from './template.ts';

interface Widget {
  readonly type: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly properties: {
    readonly title?: string;
    readonly metrics?: readonly unknown[][];
    readonly alarms?: readonly string[];
    readonly view?: string;
    readonly yAxis?: unknown;
  };
}

/** The names of dimensions of AWS's own metrics. */
const dimensionNames = ['ApiId', 'ApiName', 'FunctionName', 'TableName', 'GlobalSecondaryIndexName'];

/** The body as JSON. Each reference to a resource becomes the word REFERENCE. */
function bodyOf(joined: unknown): { readonly widgets: readonly Widget[]; readonly start?: string } {
  const [, parts] = (joined as { 'Fn::Join': [string, unknown[]] })['Fn::Join'];
  return JSON.parse(
    parts.map((part) => (typeof part === 'string' ? part : 'REFERENCE')).join(''),
  ) as ReturnType<typeof bodyOf>;
}

const [[, dashboard] = []] = resourcesOf('AWS::CloudWatch::Dashboard');
const body = bodyOf(dashboard?.Properties['DashboardBody']);

/**
 * "right CreationsFailed failure=NothingRendered p50": a metric with its dimensions, its label and its
 * statistic.
 */
function wordsOf(metric: readonly unknown[]): string {
  const options = (typeof metric.at(-1) === 'object' ? metric.at(-1) : {}) as {
    yAxis?: string;
    stat?: string;
    label?: string;
    expression?: string;
  };
  const [, name, ...dimensions] = metric.filter((part) => typeof part === 'string');
  const expression = /MetricName=\\?"(\w+)/.exec(options.expression ?? '')?.[1];
  const by = dimensions.filter((part) => part !== 'REFERENCE' && !dimensionNames.includes(part)).join('=');
  return [options.yAxis === 'right' ? 'right' : '', name ?? expression, by, options.label, options.stat]
    .filter((word) => word !== undefined && word !== '')
    .join(' ');
}

describe('the dashboard', () => {
  it('The dashboard shows twelve hours, and first the state of every alarm', () => {
    expect(body.start).toBe('-PT12H');
    expect(body.widgets[0]?.properties.alarms).toHaveLength(resourcesOf('AWS::CloudWatch::Alarm').length);
  });

  it('The dashboard has the name of the stack and of the region, and an output names the dashboard', () => {
    expect(wordOf(dashboard?.Properties['DashboardName'])).toBe('Darkroom-@AWS::Region');
    expect(resolved.outputs['DashboardName']).toBe('Darkroom-us-east-1');
  });

  it('The dashboard has a row of alarms above five rows of three graphs each', () => {
    const [alarms, ...graphs] = body.widgets.map(({ type, x, y, width, height, properties }) => [
      ...[type, x, y, width, height],
      properties.title,
    ]);
    expect(alarms).toEqual(['alarm', 0, 0, 24, 4, 'Alarms']);
    expect(graphs.map((graph) => graph.slice(0, 5))).toEqual(
      [4, 10, 16, 22, 28].flatMap((y) => [0, 8, 16].map((x) => ['metric', x, y, 8, 6])),
    );
  });

  it('The dashboard has graphs over time whose axes begin at 0 and show no units', () => {
    const axis = { min: 0, showUnits: false };
    for (const { properties } of body.widgets.slice(1))
      expect(properties).toMatchObject({ view: 'timeSeries', yAxis: { left: axis, right: axis } });
  });

  it('The dashboard has graphs of five minutes, which is the default period of a metric', () => {
    const periods = body.widgets
      .flatMap(({ properties: { metrics = [] } }) => metrics)
      .map((metric) => metric.at(-1))
      .flatMap((options) => (typeof options === 'object' && options !== null ? Object.entries(options) : []))
      .filter(([name]) => name === 'period')
      .map(([, seconds]): unknown => seconds);
    expect(periods.filter((seconds) => seconds !== 300)).toEqual([]);
  });

  it('The dashboard has these graphs', () => {
    const graphs = body.widgets
      .slice(1)
      .map(({ properties: { title = '', metrics = [] } }) => [title, metrics.map(wordsOf)]);
    const sum = (name: string): string => `${name} ${name} Sum`;
    expect(Object.fromEntries(graphs)).toEqual({
      'Requests and refusals': ['Count requests SampleCount', 'right 4xx 4xx Sum', 'right 5xx 5xx Sum'],
      'OpenAI-shaped endpoint and MCP: requests and refusals': [
        'Count Darkroom-openai Openai SampleCount',
        'Count Darkroom-mcp Mcp SampleCount',
        'right 4XXError Darkroom-openai Openai 4xx Sum',
        'right 5XXError Darkroom-openai Openai 5xx Sum',
        'right 4XXError Darkroom-mcp Mcp 4xx Sum',
        'right 5XXError Darkroom-mcp Mcp 5xx Sum',
      ],
      'Time of a held request, ms': ['OpenaiImages', 'Mcp'].flatMap((name) =>
        ['p50', 'p95'].map((statistic) => `Duration ${name} ${statistic} ${statistic}`),
      ),
      'Held requests, and those refused': [
        'ConcurrentExecutions OpenaiImages Maximum',
        'ConcurrentExecutions Mcp Maximum',
        'right Throttles OpenaiImages refused Sum',
        'right Throttles Mcp refused Sum',
      ],
      'Time of an answer, ms': ['Latency p50 p50', 'Latency p95 p95', 'Latency p99 p99'],
      Creations: [
        sum('CreationsAccepted'),
        sum('CreationsCompleted'),
        sum('CreationsFailed'),
        'right OpenCreations OpenCreations Maximum',
      ],
      'From acceptance to the image, ms': [
        'CreationTime p50 p50',
        'CreationTime p95 p95',
        'CreationTime p99 p99',
      ],
      'Failures by message': failureNames.map(
        (failure) => `CreationsFailed failure=${failure} ${failure} Sum`,
      ),
      'Providers: answers, and ms (95 of 100)': ['ProviderAnswers', 'right ProviderTime'],
      'Webhook attempts': [
        'WebhookAttempts outcome=delivered delivered Sum',
        'WebhookAttempts outcome=failed failed Sum',
      ],
      Reconciler: [
        sum('ReconcilerLooked'),
        sum('ReconcilerStarted'),
        sum('ReconcilerRefunded'),
        `right ${sum('ReconcilerRuns')}`,
      ],
      Money: [
        sum('RefundedMicros'),
        `right ${sum('RefundsBusy')}`,
        `right ${sum('ChargeConflicts')}`,
        `right ${sum('RequestsShed')}`,
        'right BooksOutOfBalance BooksOutOfBalance Maximum',
      ],
      'Table: throttles and conflicts': [
        ...['table', 'open_work', 'listing'].flatMap((place) =>
          ['ReadThrottleEvents', 'WriteThrottleEvents'].map((name) =>
            [name, place === 'table' ? '' : place, `${place}: ${name}`, 'Sum'].filter(Boolean).join(' '),
          ),
        ),
        'right TransactionConflict table: TransactionConflict Sum',
      ],
      'Concurrent executions in the account': [
        'ConcurrentExecutions ConcurrentExecutions Maximum',
        'UnreservedConcurrentExecutions UnreservedConcurrentExecutions Maximum',
      ],
      'From the charge to the start, ms': ['AcceptTime p50 p50', 'AcceptTime p95 p95', 'AcceptTime p99 p99'],
    });
  });
});

describe('the secret under which webhook secrets are sealed', () => {
  it('The sealing secret is made of 64 letters and digits, and survives its stack', () => {
    const generated = resourcesOf('AWS::SecretsManager::Secret').filter(
      ([, { Properties }]) => Properties['GenerateSecretString'] !== undefined,
    );
    expect(
      generated.map(([, { Properties, DeletionPolicy }]) => [
        Properties['GenerateSecretString'],
        DeletionPolicy,
      ]),
    ).toContainEqual([{ ExcludePunctuation: true, PasswordLength: 64 }, 'RetainExceptOnCreate']);
  });
});
