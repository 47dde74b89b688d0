/** `darkroom login`: where keys are stored, and who can see them. */
import { execFile } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { newPerson, type Person, useServedPerson } from './command-run.ts';

const served = useServedPerson();

/** A person without a key, who is gone after the test. */
async function newAnn(): Promise<Person> {
  const ann = await newPerson();
  onTestFinished(ann.remove);
  return ann;
}
const login = (): string[] => ['login', '--base-url', served.baseUrl];

describe('darkroom login', () => {
  it('stores a key that works, so that only its owner can read it, and never prints it', async () => {
    const ann = await newAnn();
    const said = await ann.run(login(), { input: `${served.client.key}\n` });
    expect(said.code).toBe(0);
    expect(said.out + said.err).not.toContain(served.client.key);
    const folder = join(ann.home, '.config/darkroom');
    const file = join(folder, 'config.json');
    expect([statSync(folder).mode & 0o777, statSync(file).mode & 0o777]).toEqual([0o700, 0o600]);
    expect(await ann.json('balance')).toMatchObject({ currency: 'USD' });

    chmodSync(file, 0o644);
    expect((await ann.run(['balance'])).err).toContain(`chmod 600 ${file}`);
    expect((await ann.run(['logout'])).code).toBe(0);
    expect(readFileSync(file, 'utf8')).not.toContain('dk_live_');
    expect(await ann.run(['balance'])).toMatchObject({
      code: 3,
      err: expect.stringContaining('darkroom login') as string,
    });
    expect((await ann.run(['logout'])).code).toBe(1);
  });

  it('keeps several profiles, follows XDG_CONFIG_HOME, and lets the environment win', async () => {
    const other = await served.service.client({ balance: '7' });
    const ann = await newAnn();
    const config = join(ann.home, 'elsewhere');
    const env = { XDG_CONFIG_HOME: config };
    await ann.run(login(), { input: served.client.key, env });
    const ofOther = ['login', '--base-url', `${served.baseUrl}/`, '--profile', 'other'];
    await ann.run(ofOther, { input: other.key, env });
    expect(existsSync(join(config, 'darkroom/config.json'))).toBe(true);
    const balanceOf = async (
      args: readonly string[],
      more: Record<string, string> = {},
    ): Promise<unknown> => {
      const { out } = await ann.run(['balance', '--json', ...args], { env: { ...env, ...more } });
      return (JSON.parse(out) as { balance: unknown }).balance;
    };
    expect(await balanceOf(['--profile', 'other'])).toBe(7);
    expect(await balanceOf([], { DARKROOM_PROFILE: 'other' })).toBe(7);
    expect(await balanceOf([])).not.toBe(7);
    expect(await balanceOf([], { DARKROOM_API_KEY: other.key })).toBe(7);
    await ann.run(['logout', '--profile', 'other'], { env });
    expect(await balanceOf([])).not.toBe(7);
    expect((await ann.run(['balance', '--profile', '../x'], { env })).code).toBe(2);
  });

  it('asks for the key on a terminal, and shows nothing of what is typed', async () => {
    const ann = await newAnn();
    const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => undefined });
    const typing = ann.run(login(), { input, isTTY: true });
    input.write(`${served.client.key}\r`);
    const { code, out, err } = await typing;
    expect([code, err]).toEqual([0, `API key for ${served.baseUrl}: \n`]);
    expect(out).not.toContain(served.client.key);
    expect((await ann.run(['balance'])).code).toBe(0);

    const away = new AbortController();
    const asked = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => undefined });
    const interrupted = ann.run(login(), { input: asked, signal: away.signal });
    away.abort();
    expect(await interrupted).toMatchObject({ code: 1, out: '' });
    expect((await interrupted).err).toMatch(/\nInterrupted\.\n$/);
  });

  it('stores no key that the service refuses, and says when the file is broken', async () => {
    const ann = await newAnn();
    const wrong = await ann.run(login(), { input: 'dk_live_wrong' });
    expect(wrong.code).toBe(3);
    expect(existsSync(join(ann.home, '.config'))).toBe(false);
    expect((await ann.run(['login'], { input: served.client.key })).code).toBe(2);
    await ann.run(login(), { input: served.client.key });
    writeFileSync(join(ann.home, '.config/darkroom/config.json'), `{"profiles": ${served.client.key}`);
    const broken = await ann.run(['balance']);
    expect(broken).toMatchObject({
      code: 1,
      err: expect.stringContaining('config.json is not valid.') as string,
    });
    expect(broken.err).not.toContain(served.client.key);
  });
});

it('npm install, the two variables and npx darkroom generate give an image', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'darkroom-three-lines-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const shell = async (cwd: string, ...lines: string[]): Promise<string> =>
    (await promisify(execFile)('sh', ['-c', lines.join('\n')], { cwd })).stdout;
  // As AWS does, one machine serves the package on the host of the portal.
  const address = new URL('/client/darkroom-client.tgz', served.baseUrl).href;
  const checked = await shell(
    folder,
    `curl -sO ${address} && curl -sO ${address}.sha256`,
    'sha256sum -c darkroom-client.tgz.sha256',
  );
  expect(checked).toBe('darkroom-client.tgz: OK\n');

  const empty = join(folder, 'empty');
  mkdirSync(empty);
  const printed = await shell(
    empty,
    `export npm_config_cache=${join(folder, 'cache')} npm_config_audit=false npm_config_update_notifier=false`,
    `npm install --silent ${address}`,
    `export DARKROOM_API_KEY=${served.client.key} DARKROOM_BASE_URL=${served.baseUrl}`,
    'npx darkroom generate "a lake" -o lake.png',
    // The address is enough for the one program of the package, too.
    `npx -y ${address} --version`,
  );
  expect(printed).toBe('lake.png\n0.1.0\n');
  const image = readFileSync(join(empty, 'lake.png'));
  expect(image.subarray(0, 8).toString('hex')).toBe('89504e470d0a1a0a');
  // The size in the header of the PNG.
  expect([image.readUInt32BE(16), image.readUInt32BE(20)]).toEqual([1024, 1024]);
  // Nothing but the package was installed.
  const installed = readdirSync(join(empty, 'node_modules')).filter((name) => !name.startsWith('.'));
  expect(installed).toEqual(['darkroom-client']);
});
