/** What an alarm is made of, and the resources that alarms watch. */
import { Duration } from 'aws-cdk-lib';
import type { RestApi } from 'aws-cdk-lib/aws-apigateway';
import type { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import {
  MathExpression,
  Stats,
  type ComparisonOperator,
  type IMetric,
  type TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import type { ServiceMetrics } from './service-metrics.ts';

/** The OpenAI-shaped endpoint and MCP. */
export interface Streaming {
  readonly apis: readonly RestApi[];
  /** The functions that hold requests. */
  readonly holding: readonly LambdaFunction[];
}

/** The resources and metrics that the alarms watch. */
export interface Watched {
  readonly metrics: ServiceMetrics;
  readonly httpApi: HttpApi;
  readonly streaming: Streaming;
  /** Three metrics each are added up, so three machines at most. */
  readonly stateMachines: readonly StateMachine[];
  /**
   * The functions without which a creation cannot go on. Ten at most: one alarm can add up no more metrics.
   */
  readonly throttled: readonly LambdaFunction[];
  readonly refundCharge: LambdaFunction;
  readonly auditBooks: LambdaFunction;
  /** The setting: how many creations may be open at once in the whole service. */
  readonly serviceCapacity: number;
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
  readonly meaning: string;
  readonly remedy: string;
}

/** The period and the statistic of most alarms. */
export const fiveMinutes = { period: Duration.minutes(5), statistic: Stats.SUM } as const;

/** The sum of metrics. A metric without a value in a period counts as 0. */
export function sumOf(metrics: readonly IMetric[], label: string): MathExpression {
  const usingMetrics = Object.fromEntries(metrics.map((metric, index) => [`m${index}`, metric]));
  return new MathExpression({
    expression: Object.keys(usingMetrics)
      .map((id) => `FILL(${id}, 0)`)
      .join(' + '),
    usingMetrics,
    period: fiveMinutes.period,
    label,
  });
}
