import * as z from 'zod';
import { idOfArn } from './local-names.ts';
import type { Resources } from './resources.ts';

/** A function that runs at a fixed interval. */
export interface LocalSchedule {
  readonly functionId: string;
  readonly everySeconds: number;
  /** The event's JSON text, when the template gives one. */
  readonly input?: string;
}

/** A function that runs for each event that matches a pattern. */
export interface LocalRule {
  readonly functionId: string;
  /** An event pattern of EventBridge. */
  readonly pattern: Readonly<Record<string, unknown>>;
}

const secondsOfUnit: Readonly<Record<string, number>> = { minute: 60, hour: 3600, day: 86_400 };

// These members are refused, because they would change the event that the function receives.
const absent = z.never().optional();
const targetSchema = z.object({
  Arn: z.string(),
  Input: z.string().optional(),
  InputPath: absent,
  InputTransformer: absent,
});
const state = z.enum(['ENABLED', 'DISABLED']).default('ENABLED');

const scheduleSchema = z.object({ ScheduleExpression: z.string(), State: state, Target: targetSchema });
const ruleSchema = z.object({
  ScheduleExpression: z.string().optional(),
  EventPattern: z.record(z.string(), z.unknown()).optional(),
  EventBusName: z.literal('default').optional(),
  State: state,
  Targets: z.array(targetSchema).default([]),
});

/**
 * The schedules of EventBridge Scheduler, and the rules with a ScheduleExpression. Disabled ones are left
 * out.
 */
export function readSchedules(resources: Resources): readonly LocalSchedule[] {
  const schedules = resources
    .of('AWS::Scheduler::Schedule', scheduleSchema)
    .map((resource) => ({ ...resource, targets: [resource.properties.Target] }));
  const rules = resources
    .of('AWS::Events::Rule', ruleSchema)
    .map((resource) => ({ ...resource, targets: resource.properties.Targets }));
  return [...schedules, ...rules].flatMap(({ properties, targets, unsupported }) => {
    const { ScheduleExpression } = properties;
    if (ScheduleExpression === undefined || properties.State === 'DISABLED') return [];
    const everySeconds = secondsOfRate(ScheduleExpression);
    if (everySeconds === undefined)
      throw unsupported(`ScheduleExpression ${ScheduleExpression} is not supported, only rate(...)`);
    return targets.map(({ Arn, Input }) => ({
      functionId: targetFunction(Arn, unsupported),
      everySeconds,
      ...(Input !== undefined && { input: Input }),
    }));
  });
}

/** The rules with an event pattern. Disabled rules are left out. */
export function readRules(resources: Resources): readonly LocalRule[] {
  return resources.of('AWS::Events::Rule', ruleSchema).flatMap(({ properties, unsupported }) => {
    const { EventPattern } = properties;
    if (EventPattern === undefined || properties.State === 'DISABLED') return [];
    return properties.Targets.map(({ Arn, Input }) => {
      if (Input !== undefined) throw unsupported('Targets: a fixed Input for an event is not supported');
      return { functionId: targetFunction(Arn, unsupported), pattern: EventPattern };
    });
  });
}

function secondsOfRate(expression: string): number | undefined {
  const [, count, unit = ''] = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(expression) ?? [];
  const seconds = secondsOfUnit[unit];
  return seconds === undefined ? undefined : Number(count) * seconds;
}

function targetFunction(arn: string, unsupported: (what: string) => Error): string {
  const functionId = idOfArn('function', arn);
  if (functionId === undefined) throw unsupported(`target ${arn} is not a function of this template`);
  return functionId;
}
