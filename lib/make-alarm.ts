import { Stack } from 'aws-cdk-lib';
import {
  Alarm,
  AnomalyDetectionAlarm,
  ComparisonOperator,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';
import type { AlarmDefinition } from './alarm-definition.ts';

/** Adds the alarm of a definition. The description of the alarm leads an operator to the runbook. */
export function makeAlarm(
  scope: Construct,
  name: string,
  { metric, threshold, comparison, periods = 1, missing, deviationsBelow, meaning, remedy }: AlarmDefinition,
): Alarm {
  const common = {
    alarmName: `${Stack.of(scope).stackName}-${name}`,
    alarmDescription: `${meaning} What to do: ${remedy} See docs/alarms.md#${name.toLowerCase()}`,
    metric,
    evaluationPeriods: periods,
    treatMissingData: missing ?? TreatMissingData.NOT_BREACHING,
  };
  if (deviationsBelow !== undefined)
    return new AnomalyDetectionAlarm(scope, name, {
      ...common,
      stdDevs: deviationsBelow,
      comparisonOperator: ComparisonOperator.LESS_THAN_LOWER_THRESHOLD,
    });
  return new Alarm(scope, name, {
    ...common,
    threshold,
    comparisonOperator: comparison ?? ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
  });
}
