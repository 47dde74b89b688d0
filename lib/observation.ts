/** The alarms and the dashboard for operators. */
import type { Stack } from 'aws-cdk-lib';
import type { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import { Alarms } from './alarms.ts';
import type { CreationExecution } from './creation-execution.ts';
import { Dashboard } from './dashboard.ts';
import type { ServiceFunction } from './service-function.ts';
import { ServiceMetrics } from './service-metrics.ts';
import type { Settings } from './settings.ts';
import type { StreamingApis } from './streams/streaming-apis.ts';
import type { TrafficShift } from './traffic-shift.ts';

export interface Observed {
  readonly settings: Settings;
  readonly httpApi: HttpApi;
  readonly streams: StreamingApis;
  readonly execution: CreationExecution;
  readonly functionNamed: (id: string) => ServiceFunction;
  /** Absent when requests go to a new release at once. */
  readonly trafficShift: TrafficShift | undefined;
}

/** The functions without which a creation cannot go on. */
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

export function observe(stack: Stack, observed: Observed): void {
  const { settings, httpApi, streams, execution, functionNamed, trafficShift } = observed;
  const metrics = new ServiceMetrics(stack.stackName);
  const holding = ['OpenaiImages', 'Mcp'].map(functionNamed);
  const streaming = { apis: [streams.openai.restApi, streams.mcp.restApi], holding };
  const alarms = new Alarms(stack, 'Alarms', {
    metrics,
    httpApi,
    streaming,
    stateMachines: execution.all,
    throttled: essential.map(functionNamed),
    refundCharge: functionNamed('RefundCharge'),
    auditBooks: functionNamed('AuditBooks'),
    serviceCapacity: settings.serviceCapacity,
    email: settings.alarmEmail,
  });
  // Only what a faulty release of the API causes. An alarm that is raised already stops every deployment.
  trafficShift?.stopAt(
    ['RequestsFailing', 'ServerErrors', 'StartsRefused'].map((name) => alarms.named(name)),
  );
  new Dashboard(stack, 'Dashboard', { metrics, httpApi, streaming, alarms: alarms.all });
}
