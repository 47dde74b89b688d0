/**
 * `npm run lab -- sam`: prepares the files for `sam local`, before the local service that runs, and prints what to
 * run next.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { Command } from 'commander';
import pc from 'picocolors';
import * as z from 'zod';
import { runningService } from '../../local/service-record.ts';
import { type LocalFunction, readTemplate } from '../../local/template.ts';
import { synthesizedTemplate } from '../../start/synthesized-template.ts';
import { sampleEvents } from './events.ts';

/**
 * Changes the synthesized template for SAM's command line. SAM sets only those environment variables that the
 * template declares, so the template must declare the address of the local service.
 */
const propertiesSchema = z.record(z.string(), z.unknown());
const resourceSchema = z.looseObject({
  Type: z.string(),
  Properties: propertiesSchema.optional(),
  Metadata: propertiesSchema.optional(),
});
const templateSchema = z.looseObject({ Resources: z.record(z.string(), resourceSchema) });
const environmentSchema = z.object({ Variables: propertiesSchema.optional() }).default({});

type Resource = z.infer<typeof resourceSchema>;
export type Template = z.infer<typeof templateSchema>;

function isTemplate(value: unknown): value is Template {
  return templateSchema.safeParse(value).success;
}

/** The variables that give a function under SAM the address of AWS and its identity there. */
export const awsVariables = ['AWS_ENDPOINT_URL', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'] as const;

/** The template in which every function declares these variables and has the absolute path of its bundle. */
export function samTemplate(template: Template, templatePath: string): Template {
  const resources = Object.entries(template.Resources).map(([id, resource]): [string, Resource] => [
    id,
    resource.Type === 'AWS::Lambda::Function' ? samFunction(resource, templatePath) : resource,
  ]);
  return { ...template, Resources: Object.fromEntries(resources) };
}

function samFunction(resource: Resource, templatePath: string): Resource {
  const { Variables: declared } = environmentSchema.parse(resource.Properties?.['Environment']);
  const declaredToo = Object.fromEntries(awsVariables.map((name) => [name, '']));
  return {
    ...resource,
    Properties: { ...resource.Properties, Environment: { Variables: { ...declared, ...declaredToo } } },
    Metadata: {
      ...resource.Metadata,
      'aws:asset:path': resolve(dirname(templatePath), String(resource.Metadata?.['aws:asset:path'])),
    },
  };
}

/** The name that SAM uses for each function, by the function's id in the template. */
export function samNames(template: Template): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(template.Resources).flatMap(([id, { Metadata: metadata }]) =>
      typeof metadata?.['SamResourceId'] === 'string' ? [[id, metadata['SamResourceId']]] : [],
    ),
  );
}

interface LocalPlace {
  /** The address of AWS from within a container. */
  readonly awsUrl: string;
  /** The values that the local service gives its functions instead of the template's values. */
  readonly environment: Readonly<Record<string, string>>;
}

type Variables = Readonly<Record<string, string>>;

/**
 * The content of the file for `--env-vars`: every variable of every function, as the local service sets it.
 * The stand-in identifies a caller by its access key id, which is the id of the function's role.
 */
export function samVariables(
  functions: readonly LocalFunction[],
  names: ReadonlyMap<string, string>,
  place: LocalPlace,
): Readonly<Record<string, Variables>> {
  const withLocalValues = (declared: Variables): Variables =>
    Object.fromEntries(
      Object.entries(declared).map(([name, value]) => [name, place.environment[name] ?? value]),
    );
  return Object.fromEntries(
    functions.map(({ id, roleId, environment }) => [
      names.get(id) ?? id,
      {
        ...withLocalValues(environment),
        AWS_ENDPOINT_URL: place.awsUrl,
        AWS_ACCESS_KEY_ID: roleId,
        AWS_SECRET_ACCESS_KEY: 'local',
      },
    ]),
  );
}

interface Options {
  readonly data: string;
  readonly host: string;
  readonly key: string;
  readonly json?: boolean;
}

/** Resolves with whether a local service was found. */
export async function run(args: string[]): Promise<boolean> {
  const { data, host, key, json } = new Command('npm run lab -- sam')
    .description(
      'Prepare template, variables and sample events for `sam local`, before the local service that runs',
    )
    .option('--data <folder>', 'the folder of the local service', '.darkroom')
    .option(
      '--host <name>',
      'how a container reaches this machine',
      process.platform === 'linux' ? '127.0.0.1' : 'host.docker.internal',
    )
    .option('--key <key>', 'an API key for the sample events', 'dk_live_PUT_A_KEY_HERE')
    .option('--json', 'one JSON document')
    .parse(args, { from: 'user' })
    .opts<Options>();

  const place = await localPlace(data);
  if (!place) {
    console.error(
      `No local service runs in ${data}: start it with \`npm start\`, or name its folder with --data.`,
    );
    return false;
  }
  const tell = (line: string): void => console.error(pc.dim(line));
  const prepared = await prepareForSam(resolve(data, 'sam'), place, { host, key, tell });
  const [startApi, invoke] = samCommands(prepared, host);
  if (json === true) console.log(JSON.stringify({ ...prepared, commands: [startApi, invoke] }));
  else {
    console.log(`
  ${pc.bold('Ready for SAM')}: the functions in Lambda's containers, tables and executions in the service that runs here.

  template   ${prepared.template}
  variables  ${prepared.variables}
  events     ${prepared.events}
  functions  ${prepared.functions.join(', ')}

  ${startApi}

  ${invoke}

  ${pc.dim('Prepare again after a change of the code, and when the service was started anew: its port is in the variables.')}
`);
  }
  return true;
}

interface Prepared {
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
async function localPlace(folder: string): Promise<LocalPlace | undefined> {
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
async function prepareForSam(
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
function samCommands({ template, variables, events }: Prepared, host: string): [string, string] {
  const network = host === '127.0.0.1' ? ' --docker-network host' : '';
  const files = `-t ${template} --env-vars ${variables}`;
  const event = join(events, 'GetBalance.json');
  return [
    `sam local start-api ${files}${network}`,
    `sam local invoke GetBalance ${files} -e ${event}${network}`,
  ];
}
