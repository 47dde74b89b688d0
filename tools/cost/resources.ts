/** The resources of the synthesized template, as far as the costs depend on them. */
import { readFile } from 'node:fs/promises';
import * as z from 'zod';
import { metrics } from '../../core/metrics.ts';
import { synthesizedTemplate } from '../../start/synthesized-template.ts';
import { functionName } from '../function-name.ts';
import type { Memory, Standing, StandingResources } from './bill.ts';
import type { CreationCount } from './measure.ts';

const templateSchema = z.object({
  Resources: z.record(
    z.string(),
    z.object({
      Type: z.string(),
      Properties: z.object({ MemorySize: z.number().optional() }).default({}),
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
    alarms: numberOf('AWS::CloudWatch::Alarm'),
    metrics: metrics.filter(({ event }) => event === 'reconciled' || event === 'books_audited').length,
    dashboards: numberOf('AWS::CloudWatch::Dashboard'),
    secrets: numberOf('AWS::SecretsManager::Secret'),
  };
}

/** Everything that costs money in a month without requests. */
export async function standingOf(count: CreationCount, memory: Memory): Promise<Standing> {
  return { ...(await standingResources()), reconciler: { count, memory } };
}
