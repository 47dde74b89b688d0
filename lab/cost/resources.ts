/** The resources of the synthesized template, as far as the costs depend on them. */
import { readFile } from 'node:fs/promises';
import * as z from 'zod';
import { type MetricDefinition, metrics } from '../../service/contract/metrics.ts';
import { synthesizedTemplate } from '../../start/synthesized-template.ts';
import { functionName } from '../function-name.ts';
import type { Memory } from './bill.ts';
import type { CreationCount } from './measure.ts';
import type { Standing, StandingResources } from './standing.ts';

const templateSchema = z.object({
  Resources: z.record(
    z.string(),
    z.object({
      Type: z.string(),
      Properties: z
        .looseObject({ MemorySize: z.number().optional(), ScheduleExpression: z.string().optional() })
        .default({}),
    }),
  ),
});

async function readResources(): Promise<z.infer<typeof templateSchema>['Resources']> {
  return templateSchema.parse(JSON.parse(await readFile(await synthesizedTemplate(), 'utf8'))).Resources;
}

/** The memory of each function in MB. Lambda's own default is 128 MB. */
export async function memoryOf(): Promise<Memory> {
  const functions = Object.entries(await readResources()).filter(
    ([, { Type }]) => Type === 'AWS::Lambda::Function',
  );
  return Object.fromEntries(
    functions.map(([id, { Properties: properties }]) => [functionName(id), properties.MemorySize ?? 128]),
  );
}

/** The numbers of the resources that AWS bills by the month. */
export async function standingResources(): Promise<StandingResources> {
  const resources = Object.values(await readResources());
  const numberOf = (type: string): number => resources.filter(({ Type }) => Type === type).length;
  return {
    alarms: numberOf(alarmType),
    alarmMetrics: resources
      .filter(({ Type }) => Type === alarmType)
      .reduce((sum, { Properties: properties }) => sum + billedMetrics(properties), 0),
    reconcilerMetrics: metricsOf('reconciled'),
    auditMetrics: metricsOf('books_audited'),
    dashboards: numberOf('AWS::CloudWatch::Dashboard'),
    secrets: numberOf('AWS::SecretsManager::Secret'),
    schedules: resources.filter(({ Properties: { ScheduleExpression: when } }) => when !== undefined).length,
    ownKeys: numberOf('AWS::KMS::Key'),
  };
}

const alarmType = 'AWS::CloudWatch::Alarm';

const alarmSchema = z.object({
  Metrics: z
    .array(z.object({ MetricStat: z.unknown().optional(), Expression: z.string().optional() }))
    .optional(),
});

/**
 * How many metrics an alarm has on the bill. CloudWatch bills an alarm for each metric that it reads: a formula of
 * five metrics is five, and an alarm on a learned band is three, since the band has two edges.
 *
 * @param properties those of an AWS::CloudWatch::Alarm in a template
 */
export function billedMetrics(properties: unknown): number {
  const { Metrics: parts } = alarmSchema.parse(properties);
  if (!parts) return 1;
  const read = parts.filter(({ MetricStat }) => MetricStat !== undefined).length;
  const bands = parts.filter(({ Expression: formula }) =>
    formula?.startsWith('ANOMALY_DETECTION_BAND'),
  ).length;
  return read + 2 * bands;
}

function metricsOf(event: string): number {
  const counted: readonly MetricDefinition[] = metrics;
  return counted.filter((metric) => metric.event === event).length;
}

/** Everything that costs money in a month without requests. */
export async function standingOf(count: CreationCount, memory: Memory): Promise<Standing> {
  return { ...(await standingResources()), reconciler: { count, memory } };
}
