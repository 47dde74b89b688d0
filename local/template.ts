import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { PolicyStatement } from './aws/iam.ts';
import { readFunctions, readRoutes, readStateMachines } from './template/compute.ts';
import type { LocalFunction, LocalRoute, LocalStateMachine } from './template/compute.ts';
import { readRules, readSchedules } from './template/events.ts';
import type { LocalRule, LocalSchedule } from './template/events.ts';
import type { Template } from './template/intrinsics.ts';
import { readPolicies } from './template/policies.ts';
import { openResources } from './template/resources.ts';
import { readBuckets, readDistributions, readSecrets, readTables } from './template/storage.ts';
import type { LocalBucket, LocalDistribution, LocalSecret, LocalTable } from './template/storage.ts';

export type {
  LocalBucket,
  LocalDistribution,
  LocalFunction,
  LocalRoute,
  LocalRule,
  LocalSchedule,
  LocalSecret,
  LocalStateMachine,
  LocalTable,
};

/** What a synthesized stack asks for, under the names by which the stand-ins serve it. */
export interface LocalTemplate {
  readonly functions: readonly LocalFunction[];
  readonly routes: readonly LocalRoute[];
  readonly tables: readonly LocalTable[];
  readonly stateMachines: readonly LocalStateMachine[];
  readonly schedules: readonly LocalSchedule[];
  readonly rules: readonly LocalRule[];
  readonly buckets: readonly LocalBucket[];
  readonly secrets: readonly LocalSecret[];
  readonly distributions: readonly LocalDistribution[];
  /** By the logical id of the role. */
  readonly policies: ReadonlyMap<string, readonly PolicyStatement[]>;
  readonly outputs: Readonly<Record<string, string>>;
}

/** What the template cannot know. */
export interface TemplateOptions {
  /** Where the HTTP API is served here; what GetAtt ApiEndpoint gives. */
  readonly apiEndpoint?: string;
}

/**
 * Reads a template that CDK has synthesized (one flat stack). Throws an Error that names the resource and what of it
 * the one-machine mode does not support, so that nothing of the stack is left out in silence.
 */
export function readTemplate(
  templatePath: string,
  { apiEndpoint = 'http://localhost:3000' }: TemplateOptions = {},
): LocalTemplate {
  const resources = openResources(JSON.parse(readFileSync(templatePath, 'utf8')) as Template, apiEndpoint);
  return {
    functions: readFunctions(resources, path.dirname(templatePath)),
    routes: readRoutes(resources),
    tables: readTables(resources),
    stateMachines: readStateMachines(resources),
    schedules: readSchedules(resources),
    rules: readRules(resources),
    buckets: readBuckets(resources),
    secrets: readSecrets(resources),
    distributions: readDistributions(resources),
    policies: readPolicies(resources),
    outputs: resources.outputs(),
  };
}
