/**
 * `npm run sam`: prepares what `sam local start-api` and `sam local invoke` need to run
 * the functions in Lambda's own containers before the local service, and prints how.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Command } from 'commander';
import pc from 'picocolors';
import { runningService } from '../local/service-record.ts';
import { readTemplate } from '../local/template.ts';
import { synthesizedTemplate } from '../start/synthesized-template.ts';
import { sampleEvents } from '../tools/sam/events.ts';
import {
  samNames,
  samTemplate,
  samVariables,
  type LocalPlace,
  type Template,
} from '../tools/sam/template.ts';

interface Options {
  readonly data: string;
  readonly host: string;
  readonly key: string;
  readonly json?: boolean;
}

const options = new Command('npm run sam --')
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
  .parse()
  .opts<Options>();

/** The service on the folder, with the values that it gives its functions; undefined when none runs. */
async function localPlace(folder: string): Promise<LocalPlace | undefined> {
  const service = await runningService(folder);
  if (service === undefined) return undefined;
  const { awsUrl, apiUrl, localUrl, outputs } = service;
  const state = await fetch(`${localUrl}/state`).catch(() => undefined);
  if (state?.ok !== true) return undefined;
  const { environment } = (await state.json()) as { readonly environment: Readonly<Record<string, string>> };
  const { origin } = new URL(apiUrl);
  const own = Object.fromEntries(
    Object.entries(environment).map(([name, value]) => [name, value.replaceAll('{origin}', origin)]),
  );
  return { awsUrl, environment: { RESULTS_BASE_URL: outputs['ResultsBaseUrl'] ?? '', ...own } };
}

/** Writes all files; gives their paths and the names of the functions. */
async function prepare(
  folder: string,
  { awsUrl, environment }: LocalPlace,
): Promise<{ template: string; variables: string; events: string; functions: string[] }> {
  const templatePath = await synthesizedTemplate((line) => {
    console.error(pc.dim(line));
  });
  const template = JSON.parse(await readFile(templatePath, 'utf8')) as Template;
  const { functions } = readTemplate(templatePath);
  const address = new URL(awsUrl);
  address.hostname = options.host;
  const names = samNames(template);
  const paths = {
    template: join(folder, 'template.json'),
    variables: join(folder, 'variables.json'),
    events: join(folder, 'events'),
  };
  await mkdir(paths.events, { recursive: true });
  await writeFile(paths.template, JSON.stringify(samTemplate(template, templatePath), undefined, 1));
  await writeFile(
    paths.variables,
    JSON.stringify(
      samVariables(functions, names, { awsUrl: address.href.replace(/\/$/, ''), environment }),
      undefined,
      2,
    ),
  );
  for (const [name, event] of Object.entries(sampleEvents(options.key)))
    await writeFile(join(paths.events, `${name}.json`), JSON.stringify(event, undefined, 2));
  return { ...paths, functions: [...names.values()].sort() };
}

const service = await localPlace(options.data);
if (!service) {
  console.error(
    `No local service runs in ${options.data}: start it with \`npm start\`, or name its folder with --data.`,
  );
  process.exit(1);
}
const prepared = await prepare(resolve(options.data, 'sam'), service);
const network = options.host === '127.0.0.1' ? ' --docker-network host' : '';
const startApi = `sam local start-api -t ${prepared.template} --env-vars ${prepared.variables}${network}`;
const invoke = `sam local invoke GetBalance -t ${prepared.template} --env-vars ${prepared.variables} -e ${join(prepared.events, 'GetBalance.json')}${network}`;
if (options.json === true) console.log(JSON.stringify({ ...prepared, commands: [startApi, invoke] }));
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
