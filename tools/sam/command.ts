/**
 * `npm run lab -- sam`: prepares the files for `sam local`, before the local service that runs, and prints what to
 * run next.
 */
import { resolve } from 'node:path';
import { Command } from 'commander';
import pc from 'picocolors';
import { localPlace, prepareForSam, samCommands } from './prepare.ts';

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
