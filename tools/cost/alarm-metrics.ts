/**
 * How many metrics an alarm has on the bill. CloudWatch bills an alarm for each metric that it reads: a formula of
 * five metrics is five, and an alarm on a learned band is three, since the band has two edges.
 */
import * as z from 'zod';

const alarmSchema = z.object({
  Metrics: z
    .array(z.object({ MetricStat: z.unknown().optional(), Expression: z.string().optional() }))
    .optional(),
});

/** @param properties those of an AWS::CloudWatch::Alarm in a template */
export function billedMetrics(properties: unknown): number {
  const { Metrics: parts } = alarmSchema.parse(properties);
  if (!parts) return 1;
  const read = parts.filter(({ MetricStat }) => MetricStat !== undefined).length;
  const bands = parts.filter(({ Expression: formula }) =>
    formula?.startsWith('ANOMALY_DETECTION_BAND'),
  ).length;
  return read + 2 * bands;
}
