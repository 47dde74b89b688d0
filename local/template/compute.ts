import path from 'node:path';
import * as z from 'zod';
import { type PolicyStatement, statementSchema } from '../aws/iam.ts';
import { idOfArn, localAttributes } from './local-names.ts';
import type { Resources } from './resources.ts';

export interface LocalFunction {
  readonly id: string;
  /** The logical id of the role. It is also the access key id by which the stand-ins know the function. */
  readonly roleId: string;
  readonly codeFolder: string;
  readonly handler: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly timeoutSeconds: number;
  /** How many invocations Lambda runs at once. Absent: as many as there are. */
  readonly reservedConcurrency?: number | undefined;
}

export interface LocalAlias {
  readonly functionId: string;
  readonly name: string;
  readonly version: string;
}

/** A state machine. Its substitutions are already applied. */
export interface LocalStateMachine {
  readonly id: string;
  readonly arn: string;
  readonly definition: string;
}

const functionSchema = z.object({
  Role: z.string(),
  Handler: z.string(),
  Timeout: z.number().default(3),
  ReservedConcurrentExecutions: z.number().optional(),
  Environment: z
    .object({ Variables: z.record(z.string(), z.coerce.string()).default({}) })
    .default({ Variables: {} }),
});

export function readFunctions(resources: Resources, folder: string): readonly LocalFunction[] {
  return resources.of('AWS::Lambda::Function', functionSchema).map((resource) => {
    const { id, properties, metadata, unsupported } = resource;
    const roleId = idOfArn('role', properties.Role);
    if (roleId === undefined) throw unsupported(`Role ${properties.Role} is not a role of this template`);
    const asset = metadata['aws:asset:path'];
    if (typeof asset !== 'string')
      throw unsupported(
        'no aws:asset:path in its metadata: synthesize with the context aws:cdk:enable-asset-metadata, and without inline code',
      );
    return {
      id,
      roleId,
      codeFolder: path.resolve(folder, asset),
      handler: properties.Handler,
      environment: properties.Environment.Variables,
      timeoutSeconds: properties.Timeout,
      reservedConcurrency: properties.ReservedConcurrentExecutions,
    };
  });
}

const aliasSchema = z.object({ FunctionName: z.string(), FunctionVersion: z.string(), Name: z.string() });

export function readAliases(resources: Resources): readonly LocalAlias[] {
  return resources.of('AWS::Lambda::Alias', aliasSchema).map(({ properties }) => ({
    functionId: properties.FunctionName,
    name: properties.Name,
    version: properties.FunctionVersion,
  }));
}

const stateMachineSchema = z.object({
  StateMachineName: z.string().optional(),
  DefinitionString: z.string(),
  DefinitionSubstitutions: z.record(z.string(), z.coerce.string()).default({}),
});

export function readStateMachines(resources: Resources): readonly LocalStateMachine[] {
  return resources
    .of('AWS::StepFunctions::StateMachine', stateMachineSchema)
    .map(({ id, properties, unsupported }) => {
      const definition = properties.DefinitionString.replace(/\$\{([^}]+)\}/g, (_match, name: string) => {
        const value = properties.DefinitionSubstitutions[name];
        if (value === undefined) throw unsupported(`DefinitionSubstitutions has no ${name}`);
        return value;
      });
      return {
        id,
        arn:
          localAttributes(id, { Type: 'AWS::StepFunctions::StateMachine', Properties: properties }).Arn ?? '',
        definition,
      };
    });
}

export interface LocalSchedule {
  readonly functionId: string;
  readonly everySeconds: number;
  /** The event's JSON text, when the template gives one. */
  readonly input?: string;
}

export interface LocalRule {
  readonly functionId: string;
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

/** The schedules of EventBridge Scheduler, and the rules with a ScheduleExpression. Disabled ones are left out. */
export function readSchedules(resources: Resources): readonly LocalSchedule[] {
  const schedules = resources
    .of('AWS::Scheduler::Schedule', scheduleSchema)
    .map((resource) => ({ ...resource, targets: [resource.properties.Target] }));
  const rules = resources
    .of('AWS::Events::Rule', ruleSchema)
    .map((resource) => ({ ...resource, targets: resource.properties.Targets }));
  return [...schedules, ...rules].flatMap(({ properties, targets, unsupported, functionIn }) => {
    const { ScheduleExpression } = properties;
    if (ScheduleExpression === undefined || properties.State === 'DISABLED') return [];
    const everySeconds = secondsOfRate(ScheduleExpression);
    if (everySeconds === undefined)
      throw unsupported(`ScheduleExpression ${ScheduleExpression} is not supported, only rate(...)`);
    return targets.map(({ Arn, Input }) => ({
      functionId: functionIn('target', Arn),
      everySeconds,
      ...(Input !== undefined && { input: Input }),
    }));
  });
}

/** The rules with an event pattern. Disabled rules are left out. */
export function readRules(resources: Resources): readonly LocalRule[] {
  return resources.of('AWS::Events::Rule', ruleSchema).flatMap(({ properties, unsupported, functionIn }) => {
    const { EventPattern } = properties;
    if (EventPattern === undefined || properties.State === 'DISABLED') return [];
    return properties.Targets.map(({ Arn, Input }) => {
      if (Input !== undefined) throw unsupported('Targets: a fixed Input for an event is not supported');
      return { functionId: functionIn('target', Arn), pattern: EventPattern };
    });
  });
}

function secondsOfRate(expression: string): number | undefined {
  const [, count, unit = ''] = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(expression) ?? [];
  const seconds = secondsOfUnit[unit];
  return seconds === undefined ? undefined : Number(count) * seconds;
}

const documentSchema = z.object({
  Statement: z.union([statementSchema.transform((one) => [one]), z.array(statementSchema)]),
});
const policySchema = z.object({ PolicyDocument: documentSchema, Roles: z.array(z.string()).default([]) });
const roleSchema = z.object({
  Policies: z.array(z.object({ PolicyDocument: documentSchema })).default([]),
  ManagedPolicyArns: z.array(z.string()).default([]),
});

/** The policy statements of each role, by the role's logical id. A role without policies has an empty list. */
export function readPolicies(resources: Resources): ReadonlyMap<string, readonly PolicyStatement[]> {
  const policies = resources.of('AWS::IAM::Policy', policySchema);
  const managed = resources.of('AWS::IAM::ManagedPolicy', policySchema);
  const granted = new Map<string, PolicyStatement[]>();

  for (const { id, properties, unsupported } of resources.of('AWS::IAM::Role', roleSchema)) {
    const attached = properties.ManagedPolicyArns.flatMap((arn) => {
      // AWS's own policies only let a function write its log, which needs no grant here.
      if (arn.startsWith('arn:aws:iam::aws:policy/')) return [];
      const policy = managed.find((one) => one.id === arn);
      if (policy === undefined) throw unsupported(`managed policy ${arn} is not of this template`);
      return policy.properties.PolicyDocument.Statement;
    });
    const inline = properties.Policies.flatMap((policy) => policy.PolicyDocument.Statement);
    granted.set(id, [...inline, ...attached]);
  }
  for (const { properties, unsupported } of [...policies, ...managed]) {
    for (const role of properties.Roles) {
      const statements = granted.get(role);
      if (statements === undefined) throw unsupported(`role ${role} is not of this template`);
      statements.push(...properties.PolicyDocument.Statement);
    }
  }
  return granted;
}
