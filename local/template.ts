import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { PolicyStatement } from './aws/iam.ts';
import {
  type LocalRestApi,
  type LocalRestRoute,
  type LocalRoute,
  readRestApis,
  readRoutes,
} from './template/apis.ts';
import {
  type LocalAlias,
  type LocalFunction,
  type LocalRule,
  type LocalSchedule,
  type LocalStateMachine,
  readAliases,
  readFunctions,
  readPolicies,
  readRules,
  readSchedules,
  readStateMachines,
} from './template/compute.ts';
import {
  type LocalBehavior,
  type LocalDistribution,
  type LocalPublisher,
  readDistributions,
  readPublishers,
} from './template/distributions.ts';
import { openResources, type Template } from './template/resources.ts';
import {
  type LocalBucket,
  type LocalSecret,
  type LocalTable,
  readBuckets,
  readSecrets,
  readTables,
} from './template/storage.ts';

export type {
  LocalAlias,
  LocalBehavior,
  LocalBucket,
  LocalDistribution,
  LocalFunction,
  LocalPublisher,
  LocalRestApi,
  LocalRestRoute,
  LocalRoute,
  LocalRule,
  LocalSchedule,
  LocalSecret,
  LocalStateMachine,
  LocalTable,
};

/** The resources of a synthesized stack, under the names by which the stand-ins serve them. */
export interface LocalTemplate {
  readonly functions: readonly LocalFunction[];
  readonly aliases: readonly LocalAlias[];
  readonly routes: readonly LocalRoute[];
  readonly restApis: readonly LocalRestApi[];
  readonly tables: readonly LocalTable[];
  readonly stateMachines: readonly LocalStateMachine[];
  readonly schedules: readonly LocalSchedule[];
  readonly rules: readonly LocalRule[];
  readonly buckets: readonly LocalBucket[];
  readonly secrets: readonly LocalSecret[];
  readonly distributions: readonly LocalDistribution[];
  /** The functions that put pages into buckets. */
  readonly publishers: readonly LocalPublisher[];
  /** The policies of each role, by the role's logical id. */
  readonly policies: ReadonlyMap<string, readonly PolicyStatement[]>;
  readonly outputs: Readonly<Record<string, string>>;
}

/** Values that are not in the template. */
export interface TemplateOptions {
  /** The local address of the HTTP API. GetAtt ApiEndpoint resolves to it. */
  readonly apiEndpoint?: string;
  /** The number of a function's version, by the logical ids of the two. The default is always 1. */
  readonly versionOf?: (functionId: string, versionId: string) => string;
}

/**
 * Reads a template that CDK has synthesized (one flat stack). Throws an Error that names the resource and the
 * part of it that cannot run on one machine, so that no part of the stack is left out silently.
 */
export function readTemplate(
  templatePath: string,
  { apiEndpoint = 'http://localhost:3000', versionOf = () => '1' }: TemplateOptions = {},
): LocalTemplate {
  const template = JSON.parse(readFileSync(templatePath, 'utf8')) as Template;
  const resources = openResources(template, { apiEndpoint, versionOf });
  return {
    functions: readFunctions(resources, path.dirname(templatePath)),
    aliases: readAliases(resources),
    routes: readRoutes(resources),
    restApis: readRestApis(resources),
    tables: readTables(resources),
    stateMachines: readStateMachines(resources),
    schedules: readSchedules(resources),
    rules: readRules(resources),
    buckets: readBuckets(resources),
    secrets: readSecrets(resources),
    distributions: readDistributions(resources, apiEndpoint),
    publishers: readPublishers(resources),
    policies: readPolicies(resources),
    outputs: resources.outputs(),
  };
}
