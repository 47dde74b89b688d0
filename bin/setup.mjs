/**
 * The first step of every npm script: `node bin/setup.mjs COMMAND [ARG ...]`. It installs the packages when needed,
 * and runs a program of node_modules/.bin, or "node FILE", with the Node 24 of the packages. An older Node runs
 * this file before any package is installed, so it is plain JavaScript.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { clearInterval, setInterval } from 'node:timers';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const programs = join(root, 'node_modules', '.bin');

function stop(sentence) {
  console.error(sentence);
  process.exit(1);
}

if (Number(process.versions.node.split('.')[0]) < 20) {
  stop(
    `Darkroom needs Node 20 or newer to start (it brings its own Node 24); this is ${process.version}. Install a newer one from nodejs.org.`,
  );
}

let running;
// A terminal sends Ctrl-C to the command as well. Each command ends once, however many signals it gets.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
  process.on(signal, () => (running ? running.kill(signal) : process.exit(1)));

// npm sends a signal only to its shell. The shell may die of it, and this file gets another parent.
const parent = process.ppid;
const watch = setInterval(() => {
  if (process.env.npm_lifecycle_event === undefined || process.ppid === parent) return;
  clearInterval(watch);
  running?.kill('SIGTERM');
}, 200).unref();

/** Runs a program until its end. Gives its exit code, which is 1 when a signal ended the program. */
function run(command, args, options) {
  return new Promise((resolve) => {
    running = spawn(command, args, { cwd: root, shell: process.platform === 'win32', ...options });
    running.on('error', (error) => stop(`${command} cannot be started: ${error.message}`));
    running.on('exit', (code) => {
      running = undefined;
      resolve(code ?? 1);
    });
  });
}

const [command, ...args] = process.argv.slice(2);
/** These programs run without the packages of the tests and checks, which are more than half of the installation. */
const isProduct = /^bin\/(demo|local|serve|admin|preflight|smoke|darkroom)\.ts$/.test(
  args.find((arg) => !arg.startsWith('-')) ?? '',
);

/** Whether node_modules is what package-lock.json asks for, by the file that a complete installation leaves. */
function isInstalled() {
  try {
    const wanted = packagesOf('package-lock.json');
    const installed = packagesOf(join('node_modules', '.package-lock.json'));
    return Object.entries(wanted).every(
      ([path, { version, integrity, optional, dev }]) =>
        path === '' ||
        (isProduct && dev === true) ||
        (installed[path] === undefined
          ? optional === true
          : installed[path].version === version &&
            (integrity === undefined || installed[path].integrity === integrity) &&
            existsSync(join(root, path, 'package.json'))),
    );
  } catch {
    return false;
  }
}

/** 88 MB that nothing here reads: Node's headers for native add-ons, and the CDK's manifests for other languages. */
function unread() {
  const binaries = join(root, 'node_modules/node/node_modules');
  const names = existsSync(binaries) ? readdirSync(binaries).filter((name) => name.startsWith('node-')) : [];
  return [
    ...names.map((name) => `node/node_modules/${name}/include`),
    'aws-cdk-lib/.jsii.gz',
    'aws-cdk-lib/.jsii.tabl.json.gz',
  ];
}

function packagesOf(file) {
  return JSON.parse(readFileSync(join(root, file), 'utf8')).packages;
}

if (!isInstalled()) {
  console.error('Installing packages (once, about half a minute) …');
  const some = isProduct ? ['--omit=dev'] : [];
  const code = await run('npm', ['ci', '--loglevel=error', ...some], { stdio: ['ignore', 2, 2] });
  if (code !== 0) stop('The packages could not be installed: run `npm ci` and read what it says.');
  for (const path of unread()) rmSync(join(root, 'node_modules', path), { recursive: true, force: true });
}

const env = {
  // Node caches the compiled modules, so that the next start and the next worker need not compile them again.
  NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'compiled'),
  ...process.env,
  PATH: `${programs}${delimiter}${process.env.PATH ?? ''}`,
};
const version = spawnSync('node', ['-v'], { env, encoding: 'utf8' }).stdout?.trim() ?? 'none';
if (!version.startsWith('v24.')) {
  stop(
    `Node 24 did not arrive with the packages (node -v says ${version}): run \`npm rebuild node\`, and never install with --ignore-scripts.`,
  );
}

process.exit(await run(command, args, { env, stdio: 'inherit' }));
