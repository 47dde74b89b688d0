/** Alarms, dashboard and log hold together: what an alarm watches is emitted, what is emitted as an alarm is watched, and each is explained. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { failureNames } from '../../core/failure.ts';
import { alarmEvents, alarmMetric, metrics, type MetricDefinition } from '../../core/metrics.ts';
import { ServiceMetrics } from '../../lib/service-metrics.ts';
import { resourcesOf } from './template.ts';

interface MetricOf {
  readonly Namespace: string;
  readonly MetricName: string;
  readonly Dimensions?: readonly { readonly Name: string; readonly Value: unknown }[];
}

interface AlarmProperties extends MetricOf {
  readonly AlarmName: string;
  readonly AlarmDescription: string;
  readonly AlarmActions: readonly unknown[];
  readonly Metrics?: readonly { readonly MetricStat?: { readonly Metric: MetricOf } }[];
}

const alarms = resourcesOf('AWS::CloudWatch::Alarm').map(([, { Properties }]) => Properties as unknown as AlarmProperties).map((alarm) => ({ ...alarm, name: alarm.AlarmName.replace('Darkroom-', '') }));
const watchedBy = (alarm: AlarmProperties): readonly MetricOf[] => alarm.Metrics?.flatMap(({ MetricStat }) => MetricStat?.Metric ?? []) ?? [alarm];

const root = fileURLToPath(new URL('../..', import.meta.url));
const operations = readFileSync(join(root, 'docs/operations.md'), 'utf8');
const sources = readdirSync(join(root, 'functions'), { recursive: true, withFileTypes: true })
  .filter((file) => file.isFile()).map((file) => readFileSync(join(file.parentPath, file.name), 'utf8')).join('\n');

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
  const isMeasuredBy = definitions.some(({ name, dimensions }) => name === MetricName && dimensions.some((set) => set.join() === names.join()));
  return isMeasuredBy && Dimensions.every(({ Name, Value }) => valuesOf[Name]?.includes(String(Value)) === true);
}

describe('an alarm', () => {
  it.each(alarms)('$name watches what is really emitted', (alarm) => {
    for (const metric of watchedBy(alarm)) expect({ ...metric, isEmitted: isEmitted(metric) }).toMatchObject({ isEmitted: true });
  });

  it.each(alarms)('$name says what it means to a customer and what to do, and where more of it stands', ({ name, AlarmDescription, AlarmActions }) => {
    expect(AlarmDescription).toMatch(/^[A-Z].{30,}\. What to do: .{20,}\. See docs\/operations\.md#/);
    expect(AlarmDescription.endsWith(`See docs/operations.md#${name.toLowerCase()}`)).toBe(true);
    expect(AlarmDescription.length).toBeLessThanOrEqual(1_024);
    expect(AlarmActions).toHaveLength(1);
  });

  it('has its section in docs/operations.md, and no section has lost its alarm', () => {
    const chapter = operations.slice(operations.indexOf('\n## Alarms\n'), operations.indexOf('\n## ', operations.indexOf('\n## Alarms\n') + 1));
    const sections = [...chapter.matchAll(/^### (\w+)$/gm)].map(([, name]) => name);
    expect(sections).toEqual(alarms.map(({ name }) => name).sort());
  });
});

describe('an event that an operator has to look at', () => {
  const literals = (pattern: RegExp): string[] => [...new Set([...sources.matchAll(pattern)].map(([, event = '']) => event))].sort();

  it('is known by its name wherever it is logged', () => {
    expect(literals(/log\.alarm\(\s*'(\w+)'/g).filter((event) => !alarmEvents.some((known) => known === event))).toEqual([]);
  });

  it.each(alarmEvents)('%s is logged, watched by an alarm, and explained', (event) => {
    expect(sources).toContain(`'${event}'`);
    expect(operations).toContain(`\`${event}\``);
    // The audit comes once a day: what it found is watched until the next one.
    if (event === 'books_out_of_balance') return;
    const watched = alarms.flatMap(watchedBy).flatMap(({ Dimensions = [] }) => Dimensions).filter(({ Name }) => Name === 'event').map(({ Value }) => Value);
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

  it('cannot show a metric that is not measured so', () => {
    const own = new ServiceMetrics('Darkroom');
    expect(() => own.of('CreationsFailed', { by: { model: 'sandbox-pro' } })).toThrow('the metric CreationsFailed is not measured by model');
    expect(() => own.of('WebhookAttempts')).toThrow('the metric WebhookAttempts is not measured by nothing');
  });
});
