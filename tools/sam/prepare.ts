/**
 * `npm run lab -- sam`: writes the files that `sam local start-api` and `sam local invoke` need. SAM then runs the
 * functions in Lambda's containers, and the functions use the tables and executions of the local service.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { runningService } from '../../local/service-record.ts';
import { readTemplate } from '../../local/template.ts';
import { synthesizedTemplate } from '../../start/synthesized-template.ts';
import { sampleEvents } from './events.ts';
import { isTemplate, samNames, samTemplate, samVariables, type LocalPlace } from './template.ts';

export interface Prepared {
  /** The path of the template. */
  readonly template: string;
  /** The path of the file with the environment variables. */
  readonly variables: string;
  /** The path of the folder with the sample events. */
  readonly events: string;
  /** The names of the functions, as SAM knows them. */
  readonly functions: readonly string[];
}

const stateSchema = z.object({ environment: z.record(z.string(), z.string()) });

/**
 * The service that runs on a folder, with the environment of its functions. Undefined when no service runs.
 */
export async function localPlace(folder: string): Promise<LocalPlace | undefined> {
  const service = await runningService(folder);
  if (service === undefined) return undefined;
  const { awsUrl, apiUrl, localUrl, outputs } = service;
  const state = await fetch(`${localUrl}/state`).catch(() => undefined);
  if (state?.ok !== true) return undefined;
  const { environment } = stateSchema.parse(await state.json());
  const { origin } = new URL(apiUrl);
  const own = Object.fromEntries(
    Object.entries(environment).map(([name, value]) => [name, value.replaceAll('{origin}', origin)]),
  );
  return { awsUrl, environment: { RESULTS_BASE_URL: outputs['ResultsBaseUrl'] ?? '', ...own } };
}

/** Writes all files into the folder. `host` is the name by which a container reaches this machine. */
export async function prepareForSam(
  folder: string,
  { awsUrl, environment }: LocalPlace,
  { host, key, tell }: { readonly host: string; readonly key: string; readonly tell: (line: string) => void },
): Promise<Prepared> {
  const templatePath = await synthesizedTemplate(tell);
  const template: unknown = JSON.parse(await readFile(templatePath, 'utf8'));
  if (!isTemplate(template)) throw new Error(`${templatePath} is not a CloudFormation template`);
  const { functions } = readTemplate(templatePath);
  const address = new URL(awsUrl);
  address.hostname = host;
  const names = samNames(template);
  const place = { awsUrl: address.href.replace(/\/$/, ''), environment };
  const paths = {
    template: join(folder, 'template.json'),
    variables: join(folder, 'variables.json'),
    events: join(folder, 'events'),
  };
  await mkdir(paths.events, { recursive: true });
  await writeFile(paths.template, JSON.stringify(samTemplate(template, templatePath), undefined, 1));
  await writeFile(paths.variables, JSON.stringify(samVariables(functions, names, place), undefined, 2));
  for (const [name, event] of Object.entries(sampleEvents(key)))
    await writeFile(join(paths.events, `${name}.json`), JSON.stringify(event, undefined, 2));
  return { ...paths, functions: [...names.values()].sort() };
}

/** The two commands that a person runs next. */
export function samCommands({ template, variables, events }: Prepared, host: string): [string, string] {
  const network = host === '127.0.0.1' ? ' --docker-network host' : '';
  const files = `-t ${template} --env-vars ${variables}`;
  const event = join(events, 'GetBalance.json');
  return [
    `sam local start-api ${files}${network}`,
    `sam local invoke GetBalance ${files} -e ${event}${network}`,
  ];
}
