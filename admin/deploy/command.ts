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
  readonly out?: string;
}

const cdk = new URL('../../cdk/', import.meta.url);
/** The command cdk sets this context: each resource names its asset and its construct. */
const context = { 'aws:cdk:enable-asset-metadata': true, 'aws:cdk:enable-path-metadata': true };

export async function synth(): Promise<void> {
  const command = program('synth', 'Write the template and the bundles into a folder. Asks nothing of AWS.');
  const options = command.requiredOption('--out <folder>', 'where to write').parse().opts<Options>();
  await saying(async () => synthesize(options, await toolchainOf(options), resolve(options.out ?? '')));
}

export async function deploy(): Promise<void> {
  const command = program('deploy', 'Deploy to AWS, with the credentials and region of the environment.')
    .option('--diff', 'show what would change, and deploy nothing')
    .argument('[options...]', 'after --: further options of `cdk deploy`, such as --require-approval never');
  const options = command.parse().opts<Options>();
  await saying(async () => {
    const tools = await toolchainOf(options);
    const out = mkdtempSync(join(tmpdir(), 'darkroom-deploy-'));
    try {
      const code = await synthesize(options, tools, out);
      const verb = options.diff ? 'diff' : 'deploy';
      const args = [join(tools, 'node_modules/aws-cdk/bin/cdk'), verb, '--app', out, options.stack];
      return code === 0 ? await run(process.execPath, [...args, ...command.args]) : code;
    } finally {
      rmSync(out, { recursive: true, force: true });
    }
  });
}

function program(name: string, description: string): Command {
  return new Command(`darkroom ${name}`)
    .description(description)
    .requiredOption('--stack <name>', 'the stack: Darkroom, or a name of your own')
    .option('--settings <file>', 'a JSON file with the settings that differ from their defaults');
}

/** The folder of the toolchain. Arguments and settings are checked before anything is installed. */
async function toolchainOf({ stack, settings }: Options): Promise<string> {
  stackNamed(stack);
  settingsIn(settings);
  return toolchain(new URL('toolchain.json', cdk), (line) => console.error(line));
}

/** Runs the app of the package (start/packaging/shipped-app.ts). */
async function synthesize({ stack, settings }: Options, tools: string, out: string): Promise<number> {
  return run(process.execPath, [fileURLToPath(new URL('app.mjs', cdk))], {
    env: {
      ...process.env,
      DARKROOM_STACK: stack,
      DARKROOM_SETTINGS: settings,
      DARKROOM_TOOLCHAIN: pathToFileURL(join(tools, 'app.mjs')).href,
      CDK_OUTDIR: out,
      CDK_CONTEXT_JSON: JSON.stringify(context),
    },
  });
}

/** Takes the exit code, or says in a sentence why there is none. */
async function saying(work: () => Promise<number>): Promise<void> {
  try {
    process.exitCode = await work();
  } catch (error) {
    if (!(error instanceof SettingsError) && !(error instanceof OperatorError)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}
