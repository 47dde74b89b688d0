/** From a key to an image in three lines, in an empty folder, with the package as it is published. */
import { execFile, type ExecFileOptions } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildClient } from '../../../client/build.ts';
import { root } from '../../docs/pages.ts';
import { sharedTestService, type TestService } from '../../fixtures/service.ts';

let service: TestService;
let folder: string;
beforeAll(async () => {
  service = await sharedTestService();
  folder = mkdtempSync(join(tmpdir(), 'darkroom-three-lines-'));
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await service.end();
});

const run = promisify(execFile);
const shell = async (line: string, options: ExecFileOptions): Promise<string> =>
  String((await run('sh', ['-c', line], options)).stdout);

it('npm install, the two variables and npx darkroom generate give an image', async () => {
  const staged = join(folder, 'staged');
  mkdirSync(staged);
  await buildClient(join(staged, 'dist'));
  copyFileSync(join(root, 'client/package.json'), join(staged, 'package.json'));
  const packed = (await shell('npm pack --ignore-scripts --silent', { cwd: staged })).trim();

  const empty = join(folder, 'empty');
  mkdirSync(empty);
  const { key } = await service.client();
  const baseUrl = new URL(service.machine.apiUrl).origin;
  const printed = await shell(
    [
      `npm install --offline --silent ${join(staged, packed)}`,
      `export DARKROOM_API_KEY=${key} DARKROOM_BASE_URL=${baseUrl}`,
      'npx darkroom generate "a lake" -o lake.png',
    ].join('\n'),
    { cwd: empty },
  );
  expect(printed).toBe('lake.png\n');
  const image = readFileSync(join(empty, 'lake.png'));
  expect(image.subarray(0, 8).toString('hex')).toBe('89504e470d0a1a0a');
  // The size in the header of the PNG.
  expect([image.readUInt32BE(16), image.readUInt32BE(20)]).toEqual([1024, 1024]);
  // Nothing but the package was installed.
  const installed = readdirSync(join(empty, 'node_modules')).filter((name) => !name.startsWith('.'));
  expect(installed).toEqual(['darkroom-client']);
  // The one program of the package answers to the name of the package, too.
  expect(await shell('npx darkroom-client --version', { cwd: empty })).toBe('0.1.0\n');
});
