import { readFileSync } from 'node:fs';
import path from 'node:path';
import { readRestApis, readRoutes } from './template/apis.ts';
import {
  readAliases,
  readFunctions,
  readPolicies,
  readRules,
  readSchedules,
  readStateMachines,
} from './template/compute.ts';
import { readDistributions, readKeyPairs, readPublishers } from './template/distributions.ts';
import type { Surroundings } from './template/local-names.ts';
import { openResources, type Template } from './template/resources.ts';
import { readBuckets, readSecrets, readTables } from './template/storage.ts';

export type * from './template/apis.ts';
export type * from './template/compute.ts';
export type * from './template/distributions.ts';
export type * from './template/storage.ts';

/** The resources of a synthesized stack, under the names by which the stand-ins serve them. */
export type LocalTemplate = ReturnType<typeof readTemplate>;

/** Reads a flat template of CDK. Throws an Error that names the resource, so that no part is left out silently. */
export function readTemplate(
  templatePath: string,
  { apiEndpoint = 'http://localhost:3000', versionOf = () => '1' }: Partial<Surroundings> = {},
) {
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
    keyPairs: readKeyPairs(resources),
    policies: readPolicies(resources),
    outputs: resources.outputs(),
  };
}
