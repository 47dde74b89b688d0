/** The cost of a month without requests. */
import { readFile } from 'node:fs/promises';
import * as z from 'zod';
import { type MetricDefinition, metrics } from '../../service/contract/metrics.ts';
import { synthesizedTemplate } from '../../start/synthesized-template.ts';
import { functionName } from '../function-name.ts';
import type { CreationCount } from './counts.ts';
import { awsMillis, gigabytesOf, gigabyteSeconds, invocationCost, type Memory, prices } from './prices.ts';

/** Everything that costs money in a month without requests. */
export interface Standing {
  readonly resources: Awaited<ReturnType<typeof standingResources>>;
  /** One run of the reconciler that finds nothing to do. */
  readonly reconciler: CreationCount;
  readonly memory: Memory;
}

const monthDays = 30;
const minutesAMonth = 60 * 24 * monthDays;
/** AWS bills a metric of our own for the hours in which it was sent. */
const hourShare = 1 / 24;
const ownKeyMonth = 1;

/** The part of the monthly bill that follows from the template alone, in USD by part. */
export function resourceBill(of: Standing['resources']): Readonly<Record<string, number>> {
  return {
    [`${of.alarms} alarms, which watch ${of.alarmMetrics} metrics`]: of.alarmMetrics * prices.alarmMonth,
    [`${of.reconcilerMetrics} metrics of the reconciler`]: of.reconcilerMetrics * prices.metricMonth,
    [`${of.auditMetrics} metrics of the audit, one hour a day`]:
      of.auditMetrics * hourShare * prices.metricMonth,
    [`${of.dashboards} dashboard`]: of.dashboards * prices.dashboardMonth,
    [`${of.secrets} secrets`]: of.secrets * prices.secretMonth,
    [`${of.schedules} schedules of EventBridge`]: 0,
    [`${of.ownKeys} keys of KMS`]: of.ownKeys * ownKeyMonth,
  };
}

/** The bill of a month without requests, in USD by part. */
export function idleBill({ resources, reconciler, memory }: Standing): Readonly<Record<string, number>> {
  return {
    ...resourceBill(resources),
    'The reconciler, once a minute': minutesAMonth * costOfRun(reconciler, memory),
    'The audit of empty books, once a day': monthDays * costOfEmptyAudit(memory),
  };
}

function costOfRun({ functions, logBytes }: CreationCount, memory: Memory): number {
  const run = functions['Reconcile'];
  return run ? invocationCost(run, gigabyteSeconds(run, 'Reconcile', memory), logBytes) : 0;
}

/** A cold start, and a few calls of the table. */
const emptyAudit = { seconds: 1, calls: 4, readUnits: 4, writeUnits: 4, logBytes: 600 } as const;

function costOfEmptyAudit(memory: Memory): number {
  const seconds = emptyAudit.seconds + (emptyAudit.calls * awsMillis.dynamodb) / 1000;
  return invocationCost(emptyAudit, seconds * gigabytesOf('AuditBooks', memory), emptyAudit.logBytes);
}

/**
 * Read units of one count for each creation: its item, its row of the ledger, and its entry in the list of its account.
 * No read of what is older than an hour is consistent (service/audit/books-reads.ts).
 */
export const auditUnits = 0.55;
/** How often the daily audits count a creation until its month is closed: half a month, and the first of the next. */
const dailyCounts = monthDays / 2 + 1;

/** USD for the daily audits that count 1,000 creations until their month is closed. */
export function dailyAudits(): number {
  return 1000 * dailyCounts * auditUnits * prices.readUnit;
}

/** USD of a month for the whole count of 1,000 creations that the table keeps. */
export function wholeAudit(): number {
  return 1000 * auditUnits * prices.readUnit;
}

/** Of one erasure by age: a read of the item and of its entry in the list, and a write of an item of up to 2 KB. */
const erasure = { readUnits: 1.03, writeUnits: 2 } as const;

/** USD for the erasure of the texts of 1,000 creations. */
export function erasedTexts(): number {
  return 1000 * (erasure.readUnits * prices.readUnit + erasure.writeUnits * prices.writeUnit);
}

/** USD for a month in which 1,000 creations stay in the table: their bytes, and the backup of these bytes. */
export function keptMonth(storedBytes: number): number {
  return ((1000 * storedBytes) / 1e9) * (prices.tableGigabyteMonth + prices.backupGigabyteMonth);
}

/** What switches of the settings add. The canary also pays for its creations, as every account does. */
export function canaryMonth(everyMinutes: number, successUsd: number): number {
  const runs = minutesAMonth / everyMinutes;
  const metrics = 2 * prices.metricMonth + prices.alarmMonth + prices.secretMonth;
  return metrics + runs * (successUsd / 1000);
}

/** A 1K picture as PNG. The other formats are smaller. */
export const usualMegabytes = 1.5;
/** Days for which a result is kept by default. The bucket deletes it a day later. */
export const keptDays = 31;
/**
 * Bytes from AWS to the internet, beside the pictures: the order to the vendor, the answer to POST, and the webhook.
 * An answer to a poll is as long as the answer to POST. The order has no source images here.
 */
const sentBytes = { order: 1_500, answer: 1_400, webhook: 2_000 } as const;

/** USD for 1,000 pictures that are stored as long as the service keeps them. */
export function storedBill(megabytes: number): number {
  return 1000 * (megabytes / 1000) * (keptDays / 30) * prices.objectGigabyteMonth;
}

/** USD for 1,000 pictures that are fetched once each: CloudFront, and its own request to the bucket. */
export function fetchedBill(megabytes: number): number {
  return 1000 * (prices.edgeRequest + prices.objectGet + (megabytes / 1000) * prices.edgeGigabyte);
}

/** USD for what 1,000 creations send to the internet beside their pictures. */
export function trafficBill({
  polls,
  hasWebhook,
}: {
  readonly polls: number;
  readonly hasWebhook: boolean;
}): number {
  const { order, answer, webhook } = sentBytes;
  const bytes = order + (1 + polls) * answer + (hasWebhook ? webhook : 0);
  return 1000 * (bytes / 1e9) * prices.trafficGigabyte;
}

/** The resources of the synthesized template, as far as the costs depend on them. */
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

/** The ids of what payments and resultKeys add. The template of one machine has it, and a stack by default has not. */
const ofOneMachine = /^(Payments|AlarmsPayment|ImagesResult)/;

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
export async function standingResources() {
  const resources = Object.entries(await readResources()).flatMap(([id, resource]) =>
    ofOneMachine.test(id) ? [] : [resource],
  );
  const ofType = (type: string) => resources.filter(({ Type }) => Type === type);
  const alarms = ofType('AWS::CloudWatch::Alarm');
  return {
    alarms: alarms.length,
    /** AWS bills an alarm by its metrics: one that adds up nine metrics costs as much as nine. */
    alarmMetrics: alarms.reduce((sum, { Properties: properties }) => sum + billedMetrics(properties), 0),
    /** The metrics that the reconciler sends each minute, and the audit once a day. */
    reconcilerMetrics: metricsOf('reconciled'),
    auditMetrics: metricsOf('books_audited'),
    dashboards: ofType('AWS::CloudWatch::Dashboard').length,
    secrets: ofType('AWS::SecretsManager::Secret').length,
    /** Rules of EventBridge that run something by the time. */
    schedules: resources.filter(({ Properties: { ScheduleExpression: when } }) => when !== undefined).length,
    /** Keys of KMS. The template has none: AWS's own keys encrypt everything, and cost nothing. */
    ownKeys: ofType('AWS::KMS::Key').length,
  };
}

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
export async function standingOf(reconciler: CreationCount, memory: Memory): Promise<Standing> {
  return { resources: await standingResources(), reconciler, memory };
}
