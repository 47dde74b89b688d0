/** `darkroom deploy` and `darkroom synth`, which only the package has: the clone has `npx cdk`. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Command } from 'commander';
import { SettingsError, settingsIn, stackNamed } from '../../lib/settings.ts';
import { OperatorError } from '../operator-error.ts';
import { run, toolchain } from './toolchain.ts';

interface Options {
  readonly stack: string;
  readonly settings?: string;
  readonly diff?: true;
  readonly out: string;
}

/** The folder of the package. */
const cdk = new URL('../../cdk/', import.meta.url);
const app = fileURLToPath(new URL('app.mjs', cdk));

/** The command cdk sets this context: each resource names its asset and its construct. */
const commandLineContext = { 'aws:cdk:enable-asset-metadata': true, 'aws:cdk:enable-path-metadata': true };

export async function deploy(): Promise<void> {
  const command = program(
    'deploy',
    'Deploy the service to AWS, with the credentials and region of the environment.',
  )
    .option('--diff', 'show what would change, and deploy nothing')
    .argument('[options...]', 'after --: further options of `cdk deploy`, such as --require-approval never');
  await perform(command, async ({ stack, diff }, folder, env) => {
    const out = mkdtempSync(join(tmpdir(), 'darkroom-deploy-'));
    const start = `"${process.execPath}" "${app}"`;
    try {
      const tool = join(folder, 'node_modules/aws-cdk/bin/cdk');
      const args = [diff ? 'diff' : 'deploy', '--app', start, '--output', out, stack, ...command.args];
      return await run(process.execPath, [tool, ...args], { env });
    } finally {
      rmSync(out, { recursive: true, force: true });
    }
  });
}

export async function synth(): Promise<void> {
  const command = program(
    'synth',
    'Write what a deployment would send to AWS into a folder. Asks nothing of AWS.',
  );
  command.requiredOption('--out <folder>', 'where to write');
  await perform(command, async ({ out }, _folder, env) =>
    run(process.execPath, [app], {
      env: { ...env, CDK_OUTDIR: resolve(out), CDK_CONTEXT_JSON: JSON.stringify(commandLineContext) },
    }),
  );
}

function program(name: string, description: string): Command {
  return new Command(`darkroom ${name}`)
    .description(description)
    .requiredOption('--stack <name>', 'the stack: Darkroom, or a name of your own')
    .option('--settings <file>', 'a JSON file with the settings that differ from their defaults');
}

/** Runs one of the commands: checks its settings before the toolchain is installed. */
async function perform(
  command: Command,
  work: (options: Options, folder: string, env: NodeJS.ProcessEnv) => Promise<number>,
): Promise<void> {
  const options = command.parse().opts<Options>();
  try {
    stackNamed(options.stack);
    settingsIn(options.settings);
    const folder = await toolchain(new URL('toolchain.json', cdk), (line) => console.error(line));
    process.exitCode = await work(options, folder, {
      ...process.env,
      DARKROOM_STACK: options.stack,
      ...(options.settings !== undefined && { DARKROOM_SETTINGS: resolve(options.settings) }),
      DARKROOM_TOOLCHAIN: pathToFileURL(join(folder, 'app.mjs')).href,
    });
  } catch (error) {
    if (!(error instanceof SettingsError) && !(error instanceof OperatorError)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}
