/** The requests that the portal shows with a new key, as they stand there, against the service. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { requestSnippets } from '../../portal/src/words/snippets.ts';
import { sharedTestService, type Client, type TestService } from '../fixtures/service.ts';

const run = promisify(execFile);

let service: TestService;
let client: Client;
let folder: string;
beforeAll(async () => {
  service = await sharedTestService();
  client = await service.client();
  folder = await mkdtemp(join(tmpdir(), 'darkroom-snippets-'));
  // The packages that a developer would install.
  await symlink(join(import.meta.dirname, '../../node_modules'), join(folder, 'node_modules'));
});
afterAll(async () => {
  await service.end();
  await rm(folder, { recursive: true, force: true });
});

async function snippet(name: string): Promise<string> {
  const { apiUrl, openaiUrl } = service.machine;
  const addresses = { api_url: apiUrl, openai_url: openaiUrl };
  const body = { model: 'sandbox-sketch', prompt: "a lighthouse in a 'storm'" };
  const found = requestSnippets(addresses, client.key, body).find((one) => one.name === name);
  if (!found) throw new Error(`the portal shows no request named ${name}`);
  const file = join(folder, `${name.replace(' ', '-')}.mjs`);
  await writeFile(file, found.text);
  return file;
}

it('The request for the OpenAI SDK saves a picture', async () => {
  await run(process.execPath, [await snippet('OpenAI SDK')], { cwd: folder });
  expect((await readFile(join(folder, 'image.png'))).subarray(1, 4).toString()).toBe('PNG');
});

it('The request for Node prints the completed creation', async () => {
  const { stdout } = await run(process.execPath, [await snippet('Node')], { cwd: folder });
  expect(stdout).toContain("status: 'completed'");
});

it('The request for a shell prints the accepted creation', async () => {
  const { stdout } = await run('sh', [await snippet('curl')], { cwd: folder });
  expect(JSON.parse(stdout)).toMatchObject({ status: 'queued', prompt: "a lighthouse in a 'storm'" });
});
