/** The alarms, the dashboard, the saved queries and the budget for operators. */
import { Aws, Duration, Stack } from 'aws-cdk-lib';
import type { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import {
  type Alarm,
  AlarmStatusWidget,
  Dashboard as CloudWatchDashboard,
  GraphWidget,
  type IMetric,
  type IWidget,
  Metric,
  Stats,
} from 'aws-cdk-lib/aws-cloudwatch';
import { CfnFunction } from 'aws-cdk-lib/aws-lambda';
import type { Topic } from 'aws-cdk-lib/aws-sns';
import { Construct, type IConstruct } from 'constructs';
import { failureNames } from '../service/contract/failures.ts';
import type { Streaming, TableMetrics } from './alarm-definition.ts';
import { Alarms } from './alarms.ts';
import { addBudget } from './budget.ts';
import type { CreationExecution } from './creation-execution.ts';
import { SavedQueries } from './saved-queries.ts';
import type { ServiceFunction } from './service-function.ts';
import { addOutput, serviceName } from './service-scope.ts';
import { ServiceMetrics } from './service-metrics.ts';
import type { Settings } from './settings.ts';
import type { Store } from './store.ts';
import type { StreamingApis } from './streams/streaming-apis.ts';
import type { TrafficShift } from './traffic-shift.ts';

export interface DashboardProps {
  readonly metrics: ServiceMetrics;
  readonly httpApi: HttpApi;
  readonly streaming: Streaming;
  readonly table: TableMetrics;
  readonly alarms: readonly Alarm[];
}

const period = Duration.minutes(5);
const percentiles = [Stats.p(50), Stats.p(95), Stats.p(99)] as const;

function graph(title: string, left: readonly IMetric[], right: readonly IMetric[] = []): GraphWidget {
  return new GraphWidget({
    title,
    width: 8,
    height: 6,
    left: [...left],
    right: [...right],
    leftYAxis: { min: 0, showUnits: false },
    rightYAxis: { min: 0, showUnits: false },
  });
}

/**
 * The service on one page: the alarms, then the figures that customers notice, then the figures that explain them.
 */
class Dashboard extends Construct {
  constructor(scope: Construct, id: string, { metrics, httpApi, streaming, table, alarms }: DashboardProps) {
    super(scope, id);
    // An account has the names of its dashboards once for all regions.
    const name = `${serviceName(this)}-${Aws.REGION}`;
    new CloudWatchDashboard(this, 'Dashboard', {
      dashboardName: name,
      defaultInterval: Duration.hours(12),
      widgets: [
        [new AlarmStatusWidget({ title: 'Alarms', width: 24, height: 4, alarms: [...alarms] })],
        customerRow(metrics, httpApi),
        streamingRow(streaming),
        renderingRow(metrics),
        workRow(metrics),
        limitRow(metrics, table),
      ],
    });
    addOutput(this, 'DashboardName', { value: name });
  }
}

function customerRow(metrics: ServiceMetrics, httpApi: HttpApi): IWidget[] {
  return [
    graph(
      'Requests and refusals',
      [httpApi.metricCount({ period, label: 'requests' })],
      [
        httpApi.metricClientError({ period, label: '4xx' }),
        httpApi.metricServerError({ period, label: '5xx' }),
      ],
    ),
    graph(
      'Time of an answer, ms',
      percentiles.map((statistic) => httpApi.metricLatency({ period, statistic, label: statistic })),
    ),
    graph(
      'Creations',
      [metrics.of('CreationsAccepted'), metrics.of('CreationsCompleted'), metrics.of('CreationsFailed')],
      [metrics.of('OpenCreations', { statistic: Stats.MAXIMUM })],
    ),
  ];
}

/** The OpenAI-shaped endpoint and MCP. */
function streamingRow({ apis, holding }: Streaming): IWidget[] {
  const nameOf = ({ node }: IConstruct): string => node.scope?.node.id ?? '';
  return [
    graph(
      'OpenAI-shaped endpoint and MCP: requests and refusals',
      apis.map((api) => api.metricCount({ period, label: nameOf(api) })),
      apis.flatMap((api) => [
        api.metricClientError({ period, label: `${nameOf(api)} 4xx` }),
        api.metricServerError({ period, label: `${nameOf(api)} 5xx` }),
      ]),
    ),
    graph(
      'Time of a held request, ms',
      holding.flatMap((fn) =>
        [Stats.p(50), Stats.p(95)].map((statistic) =>
          fn.metricDuration({ period, statistic, label: `${fn.node.id} ${statistic}` }),
        ),
      ),
    ),
    graph(
      'Held requests, and those refused',
      holding.map((fn) =>
        fn.metric('ConcurrentExecutions', { period, statistic: Stats.MAXIMUM, label: fn.node.id }),
      ),
      holding.map((fn) => fn.metricThrottles({ period, label: `${fn.node.id} refused` })),
    ),
  ];
}

function renderingRow(metrics: ServiceMetrics): IWidget[] {
  return [
    graph(
      'From acceptance to the image, ms',
      percentiles.map((statistic) => metrics.of('CreationTime', { statistic }).with({ label: statistic })),
    ),
    graph(
      'Failures by message',
      failureNames.map((failure) => metrics.of('CreationsFailed', { by: { failure } })),
    ),
    graph(
      'Providers: answers, and ms (95 of 100)',
      [metrics.each('ProviderAnswers', ['provider', 'providerModel', 'outcome'], 'Sum')],
      [metrics.each('ProviderTime', ['provider', 'providerModel'], 'p95')],
    ),
  ];
}

function workRow(metrics: ServiceMetrics): IWidget[] {
  const outcomes = ['delivered', 'failed'];
  return [
    graph(
      'Webhook attempts',
      outcomes.map((outcome) => metrics.of('WebhookAttempts', { by: { outcome } })),
    ),
    graph(
      'Reconciler',
      [metrics.of('ReconcilerLooked'), metrics.of('ReconcilerStarted'), metrics.of('ReconcilerRefunded')],
      [metrics.of('ReconcilerRuns')],
    ),
    graph(
      'Money',
      [metrics.of('RefundedMicros')],
      [
        metrics.of('RefundsBusy'),
        metrics.of('ChargeConflicts'),
        metrics.of('RequestsShed'),
        metrics.of('OperatorKeysRefused'),
        metrics.of('BooksOutOfBalance', { statistic: Stats.MAXIMUM }),
      ],
    ),
  ];
}

/** The limits of AWS. */
function limitRow(metrics: ServiceMetrics, { throttles, conflicts }: TableMetrics): IWidget[] {
  const executions = (metricName: string): Metric =>
    new Metric({ namespace: 'AWS/Lambda', metricName, period, statistic: Stats.MAXIMUM, label: metricName });
  return [
    graph('Table: throttles and conflicts', throttles, [conflicts]),
    graph('Concurrent executions in the account', [
      executions('ConcurrentExecutions'),
      executions('UnreservedConcurrentExecutions'),
    ]),
    graph(
      'From the charge to the start, ms',
      percentiles.map((statistic) => metrics.of('AcceptTime', { statistic }).with({ label: statistic })),
    ),
  ];
}

export interface Observed {
  readonly settings: Settings;
  readonly store: Store;
  readonly httpApi: HttpApi;
  readonly streams: StreamingApis;
  readonly execution: CreationExecution;
  readonly functionNamed: (id: string) => ServiceFunction;
  readonly functions: readonly ServiceFunction[];
  readonly accessLogName: string;
  /** Absent when requests go to a new release at once. */
  readonly trafficShift: TrafficShift | undefined;
}

/** The functions that a creation needs to continue. */
const essential = [
  'GenerateImage',
  'GetCreation',
  'RenderImage',
  'RenderImageSmall',
  'RenderImageLarge',
  'RefundCharge',
  'DeliverWebhook',
  'ReceiveCallback',
  'Reconcile',
];

/** Adds alarms, dashboard, saved queries and budget. Returns the topic of the alarms. */
export function observe(scope: Construct, observed: Observed): Topic {
  const { settings, store, httpApi, streams, execution, functionNamed, trafficShift } = observed;
  new SavedQueries(scope, 'Queries', observed);
  const metrics = new ServiceMetrics(serviceName(scope));
  const holding = ['OpenaiImages', 'Mcp'].map(functionNamed);
  const streaming = { apis: [streams.openai.restApi, streams.mcp.restApi], holding };
  const alarms = new Alarms(scope, 'Alarms', {
    metrics,
    httpApi,
    streaming,
    stateMachines: execution.all,
    throttled: essential.map(functionNamed),
    refundCharge: functionNamed('RefundCharge'),
    auditBooks: functionNamed('AuditBooks'),
    eraseContent: functionNamed('EraseContent'),
    table: store.metrics,
    reservedExecutions: reservedIn(Stack.of(scope)),
    alarms: settings.alarms,
    canary: settings.canary,
    serviceCapacity: settings.serviceCapacity,
    takesPayments: settings.payments !== undefined,
    email: settings.alarmEmail,
  });
  // Only what a faulty release of the API causes. An alarm that is raised already stops every deployment.
  trafficShift?.stopAt(
    ['RequestsFailing', 'ServerErrors', 'StartsRefused'].map((name) => alarms.named(name)),
  );
  new Dashboard(scope, 'Dashboard', {
    metrics,
    httpApi,
    streaming,
    table: store.metrics,
    alarms: alarms.all,
  });
  if (settings.budget) addBudget(scope, alarms.topic, settings.budget);
  return alarms.topic;
}

/** The executions that the functions of the stack reserve. All functions are in the stack by now. */
function reservedIn(stack: Stack): number {
  return stack.node
    .findAll()
    .filter((construct) => CfnFunction.isCfnFunction(construct))
    .reduce((sum, { reservedConcurrentExecutions: reserved }) => sum + (reserved ?? 0), 0);
}
