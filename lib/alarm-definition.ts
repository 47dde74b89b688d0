/** What an alarm is made of, and the resources that alarms monitor. */
import { Duration } from 'aws-cdk-lib';
import type { RestApi } from 'aws-cdk-lib/aws-apigateway';
import type { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import {
  MathExpression,
  Stats,
  type ComparisonOperator,
  type IMetric,
  type Metric,
  type TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import type { ServiceMetrics } from './service-metrics.ts';
import type { AlarmSettings } from './settings-of-parts.ts';

/** The OpenAI-shaped endpoint and MCP. */
export interface Streaming {
  readonly apis: readonly RestApi[];
  /** The functions that hold requests. */
  readonly holding: readonly LambdaFunction[];
}

/** What DynamoDB counts of the table. */
export interface TableMetrics {
  /** Reads and writes that the table or one of its indexes threw out. Six metrics. */
  readonly throttles: readonly Metric[];
  /** Transactions and single writes that met a transaction on the same item. */
  readonly conflicts: Metric;
}

/** The resources and metrics that the alarms monitor. */
export interface AlarmInputs extends AlarmSettings {
  readonly metrics: ServiceMetrics;
  readonly httpApi: HttpApi;
  readonly streaming: Streaming;
  /** Three metrics each are added up beside one more, so three machines at most. */
  readonly stateMachines: readonly StateMachine[];
  /** The functions that a creation needs to continue. Nine at most: one alarm computes with ten metrics. */
  readonly throttled: readonly LambdaFunction[];
  readonly refundCharge: LambdaFunction;
  readonly auditBooks: LambdaFunction;
  readonly eraseContent: LambdaFunction;
  readonly table: TableMetrics;
  /** The executions that the functions of this stack reserve in the account. */
  readonly reservedExecutions: number;
  /** The setting: how many creations may be open at once in the whole service. */
  readonly serviceCapacity: number;
  /** Whether the portal takes payments. */
  readonly takesPayments: boolean;
}

export interface AlarmDefinition {
  readonly metric: IMetric;
  readonly threshold: number;
  /** How a value is compared with the threshold. Absent: the alarm begins at the threshold. */
  readonly comparison?: ComparisonOperator;
  /** How many periods in a row have to cross the threshold. Absent: 1. */
  readonly periods?: number;
  /** The meaning of a period without data. Absent: all is well. */
  readonly missing?: TreatMissingData;
  /**
   * The alarm compares with what CloudWatch has learned of the metric, not with the threshold. It begins when the
   * value is so many standard deviations below.
   */
  readonly deviationsBelow?: number;
  readonly meaning: string;
  readonly fix: string;
}

/** Alarms by their names. */
export type AlarmRows = Readonly<Record<string, AlarmDefinition>>;

/** The period and the statistic of most alarms. */
export const fiveMinutes = { period: Duration.minutes(5), statistic: Stats.SUM } as const;

/** The period of alarms on events that are rare even during a fault. */
export const oneHour = { period: Duration.hours(1), statistic: Stats.SUM } as const;

/**
 * The second window of alarms on customers' failures. With little traffic, five minutes have too few
 * creations.
 */
const sixHours = { period: Duration.hours(6), statistic: Stats.SUM } as const;

/** The period and the statistic of a window. */
export type Window = typeof fiveMinutes | typeof sixHours;

/** The metrics of a share. All of them count, and have one period. */
export interface Share {
  /** The count of failures. */
  readonly bad: readonly IMetric[];
  /** The count of all cases. */
  readonly of: readonly IMetric[];
  /** From which share on the alarm begins. */
  readonly percent: number;
  /** The least number of failures in a period, also with little traffic. */
  readonly least: number;
  readonly period?: Duration;
}

/**
 * A share of ordinary traffic goes wrong, so the threshold is a share. A service with little traffic also needs a
 * number: a total that is too small counts as the total of which the least number is that share.
 */
export function share({
  bad,
  of,
  percent,
  least,
  period = fiveMinutes.period,
}: Share): Pick<AlarmDefinition, 'metric' | 'threshold'> {
  const usingMetrics = named([...bad, ...of]);
  const ids = Object.keys(usingMetrics);
  const wrong = filledSum(ids.slice(0, bad.length));
  const total = filledSum(ids.slice(bad.length));
  const smallest = (100 * least) / percent;
  return {
    metric: new MathExpression({
      expression: `100 * (${wrong}) / IF((${total}) > ${smallest}, (${total}), ${smallest})`,
      usingMetrics,
      period,
      label: 'percent',
    }),
    threshold: percent,
  };
}

/**
 * The two alarms on a share that customers feel. The first one covers five minutes, and needs the traffic of
 * a busy service. The second one covers six hours: it is raised when half of the cases failed, and counts
 * fewer than three cases as three. So one failure alone never raises it, and ten creations a day are enough
 * for it.
 * @param counts gives the metrics of a window
 */
export function inBothWindows(
  name: string,
  counts: (window: Window) => Pick<Share, 'bad' | 'of'>,
  {
    percent,
    least,
    meaning,
    fix,
  }: Pick<Share, 'percent' | 'least'> & Pick<AlarmDefinition, 'meaning' | 'fix'>,
): AlarmRows {
  const { period } = sixHours;
  return {
    [name]: { ...share({ ...counts(fiveMinutes), percent, least }), meaning, fix },
    [`${name}ForHours`]: {
      ...share({ ...counts(sixHours), percent: 50, least: 1.5, period }),
      meaning: `Half of what customers did in six hours went wrong. ${meaning}`,
      fix,
    },
  };
}

function named(metrics: readonly IMetric[]): Record<string, IMetric> {
  return Object.fromEntries(metrics.map((metric, index) => [`m${index}`, metric]));
}

function filledSum(ids: readonly string[]): string {
  return ids.map((id) => `FILL(${id}, 0)`).join(' + ');
}
