/** The package that `npm run pack` makes, and what its command does without the repository. */
import { execFile, execFileSync } from 'node:child_process';
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import lock from '../../package-lock.json' with { type: 'json' };
import { makeImage } from '../../start/packaging/image.ts';
import { makePackage, packInto } from '../../start/packaging/package.ts';
import { isPng } from '../client/command/command-run.ts';

const root = resolve(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'darkroom-package-'));
const made = join(folder, 'made');
/** An empty folder with the package installed. */
const empty = join(folder, 'empty');
const installed = join(empty, 'node_modules/darkroom');
/** Only what a person without the repository has. */
const environment = { PATH: process.env['PATH'], HOME: folder, TMPDIR: folder };

const filesOf = (of: string): Record<string, string> =>
  Object.fromEntries(
    globSync('**/*', { cwd: of })
      .filter((name) => statSync(join(of, name)).isFile())
      .map((name) => [name, readFileSync(join(of, name), 'latin1')]),
  );

const run = async (...args: readonly string[]) =>
  promisify(execFile)(process.execPath, args, { cwd: empty, env: environment });

beforeAll(async () => {
  await makePackage(made, () => undefined);
  const file = await packInto(folder, made);
  mkdirSync(empty);
  execFileSync('npm', ['install', '--offline', '--no-audit', '--no-fund', file], {
    cwd: empty,
    env: environment,
    stdio: 'ignore',
  });
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the package', () => {
  it('The package is one package without dependencies, and takes at most 40 MB', () => {
    expect(globSync('*', { cwd: join(empty, 'node_modules') })).toEqual(['darkroom']);
    const bytes = Object.values(filesOf(installed)).reduce((sum, text) => sum + text.length, 0);
    expect(bytes / 1e6).toBeLessThan(40);
  });

  it('The same sources give the same bytes', async () => {
    const again = join(folder, 'again');
    await makePackage(again, () => undefined);
    const [first, second] = [filesOf(made), filesOf(again)];
    expect(Object.keys(second)).toEqual(Object.keys(first));
    expect(Object.keys(first).filter((name) => first[name] !== second[name])).toEqual([]);
  }, 60_000);

  it('No file names the folder where the package was made, or a command of the repository', () => {
    const found = Object.entries(filesOf(installed)).flatMap(([name, text]) =>
      text.includes(root) || (name.startsWith('dist/') && /npm (run|start)/.test(text)) ? [name] : [],
    );
    expect(found).toEqual([]);
  });

  it('The bill of materials and the notices name each package inside in its locked version', () => {
    const bill = JSON.parse(readFileSync(join(installed, 'sbom.cdx.json'), 'utf8')) as {
      components: { name: string; version: string }[];
    };
    const names = bill.components.map(({ name }) => name);
    // From the programs, the functions, the pages of the portal, the reference page and the codecs.
    const some = ['commander', '@middy/core', 'preact', '@scalar/fastify-api-reference', '@cwasm/jpeg-turbo'];
    expect(names).toEqual(expect.arrayContaining(some));
    const text = readFileSync(join(installed, 'THIRD-PARTY-NOTICES'), 'utf8');
    for (const { name, version } of bill.components) {
      const versions = Object.entries(lock.packages).flatMap(([path, one]) =>
        path.endsWith(`node_modules/${name}`) && 'version' in one ? [one.version] : [],
      );
      expect(versions, name).toContain(version);
      expect(text, name).toContain(`${name} ${version} (`);
    }
  });
});

describe('the command of the package', () => {
  it('The demo makes a picture in an empty folder', async () => {
    const { stdout, stderr } = await run(join(installed, 'darkroom.js'), 'demo');
    const picture = /^image: (.+)$/m.exec(stdout)?.[1] ?? '';
    expect(isPng(readFileSync(picture))).toBe(true);
    expect(stdout).toContain('signature verified');
    expect(stderr).toBe('');
  }, 30_000);

  it('The help lists the programs of the service and the commands of the client', async () => {
    const { stdout } = await run(join(installed, 'darkroom.js'), '--help');
    for (const name of ['demo', 'serve', 'admin', 'preflight', 'generate'])
      expect(stdout).toMatch(new RegExp(`^  ${name}\\b`, 'm'));
  });

  it('A Node that is too old is refused in one sentence', async () => {
    const old = "Object.defineProperty(process, 'versions', { value: { node: '22.18.0' } })";
    const refused = run('--import', `data:text/javascript,${old}`, join(installed, 'darkroom.js'), 'demo');
    await expect(refused).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^Darkroom needs Node 22\.19\.0 or newer; .+\n$/) as string,
    });
  });
});

// The image holds the libraries that Linux links Node with.
describe.runIf(process.platform === 'linux')('the image of a container', () => {
  it('The file system of the image makes a picture, as a user without rights', async () => {
    const file = join(folder, 'darkroom.oci.tar');
    const [layout, rootfs] = [join(folder, 'layout'), join(folder, 'rootfs')];
    const digest = makeImage(made, '1.2.3', file);
    for (const one of [layout, rootfs]) mkdirSync(one);
    execFileSync('tar', ['-xf', file, '-C', layout]);
    const blob = (of: string): string => join(layout, 'blobs/sha256', of.slice('sha256:'.length));
    const read = (of: string): unknown => JSON.parse(readFileSync(blob(of), 'utf8'));
    const { config, layers } = read(digest) as { config: { digest: string }; layers: { digest: string }[] };
    const { config: starts } = read(config.digest) as { config: { User: string; Entrypoint: string[] } };
    expect(starts.User).toBe('65532:65532');
    for (const layer of layers) execFileSync('tar', ['-xzf', blob(layer.digest), '-C', rootfs]);
    expect(Number(/^\d+/.exec(execFileSync('du', ['-sm', rootfs], { encoding: 'utf8' }))?.[0])).toBeLessThan(
      150,
    );

    const inside: [string, ...string[]] =
      process.getuid?.() === 0
        ? ['chroot', `--userspec=${starts.User}`, rootfs]
        : ['bwrap', '--unshare-all', '--ro-bind', rootfs, '/', '--proc', '/proc', '--tmpfs', '/tmp'];
    const [program, ...args] = [...inside, ...starts.Entrypoint, 'demo'];
    const { stdout } = await promisify(execFile)(program, args, { env: { PATH: process.env['PATH'] } });
    expect(stdout).toMatch(/completed: 1248 x 832 pixels/);
    expect(stdout).toContain('signature verified');
  }, 60_000);
});
