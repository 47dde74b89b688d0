/** The recipes of docs/recipes.md and the requests that the portal shows, as they stand there, against the service. */
import { mkdtemp, readFile, rm, writeFile, copyFile, mkdir, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, expect, it, vi, describe } from 'vitest';
import { Darkroom } from '../../../client/src/index.ts';
import { pageExamples, type Ran, runExample } from '../../client/doc-examples.ts';
import { type Client, sharedTestService } from '../../fixtures/service.ts';
import { png } from '../image-origin.ts';
import { buildClient } from '../../../client/build.ts';
import { requestSnippets } from '../../../portal/src/words/snippets.ts';
import type { GenerateBody } from '../../../service/contract/portal-calls.ts';

const examples = new Map(pageExamples('docs/recipes.md').map((example) => [example.name, example]));

vi.stubGlobal('AI_SDK_LOG_WARNINGS', false);
const service = await sharedTestService();
const client = await service.client();
const folder = await mkdtemp(join(tmpdir(), 'darkroom-recipes-'));
// The packages that a developer would install.
const [root, packages] = [join(import.meta.dirname, '../../../'), join(folder, 'node_modules')];
await mkdir(join(packages, 'darkroom-client'), { recursive: true });
await symlink(join(root, 'node_modules/openai'), join(packages, 'openai'));
await copyFile(join(root, 'client/package.json'), join(packages, 'darkroom-client/package.json'));
await buildClient(join(packages, 'darkroom-client/dist'));
afterAll(async () => {
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
  await service.end();
  await rm(folder, { recursive: true, force: true });
});

async function run(name: string, file = join(folder, 'lake.png')): Promise<Ran & { readonly by: Client }> {
  const example = examples.get(name);
  if (!example) throw new Error(`the page has no recipe ${name}`);
  const by = await service.client();
  vi.stubEnv('OPENAI_API_KEY', by.key);
  vi.stubEnv('OPENAI_BASE_URL', service.machine.openaiUrl);
  const darkroom = new Darkroom({ apiKey: by.key, baseUrl: service.machine.apiUrl });
  // The example finds its file without a change of the folder of this process.
  const ran = await runExample(example, { darkroom, replaced: { "'lake.png'": JSON.stringify(file) } });
  return { ...ran, by };
}

it('Every recipe of the page is tested', () => {
  expect([...examples.keys()]).toEqual([
    'openai',
    'openai-edit',
    'openai-stream',
    'openai-errors',
    'ai-compatible',
    'ai-openai',
  ]);
});

it('The recipe of openai saves a picture', async () => {
  const file = join(folder, 'saved.png');
  const { by } = await run('openai', file);
  expect((await readFile(file)).subarray(1, 4).toString()).toBe('PNG');
  expect(await service.operator.creations.list(by.account.id, 10)).toMatchObject([{ aspectRatio: '3:2' }]);
});

it.each(['openai-edit', 'openai-stream', 'openai-errors', 'ai-compatible', 'ai-openai'])(
  'The recipe %s prints what it promises',
  async (name) => {
    await writeFile(join(folder, 'lake.png'), png(64, 64));
    const { printed, promised } = await run(name);
    expect(promised).toHaveLength(1);
    expect(printed).toEqual(promised);
  },
);

const runSnippet = promisify(execFile);

/** How a developer runs each of them. */
const programs: Readonly<Record<string, readonly [program: string, file: string]>> = {
  curl: ['sh', 'generate.sh'],
  Node: [process.execPath, 'generate.mjs'],
  Python: ['python3', 'generate.py'],
  'darkroom-client': [process.execPath, 'generate.mjs'],
  'OpenAI SDK': [process.execPath, 'generate.mjs'],
};
const first: GenerateBody = {
  model: 'sandbox-sketch',
  prompt: `a lighthouse in a 'storm' of "status":"failed"`,
};
const snippetsOf = (body: GenerateBody, key = client.key) =>
  requestSnippets({ api_url: service.machine.apiUrl, openai_url: service.machine.openaiUrl }, key, body);

/** Runs the snippet in a folder of its own. Resolves with what it printed, and with the image that it saved. */
async function ranAs(name: string, body: GenerateBody): Promise<{ stdout: string; image: Buffer }> {
  const found = snippetsOf(body).find((one) => one.name === name);
  const [program, file] = programs[name] ?? [];
  if (!found || program === undefined || file === undefined)
    throw new Error(`the portal shows no request named ${name}`);
  const own = await mkdtemp(join(folder, 'run-'));
  await writeFile(join(own, file), found.text);
  const { stdout } = await runSnippet(program, [file], { cwd: own });
  return { stdout, image: await readFile(join(own, `image.${body.output_format ?? 'png'}`)) };
}

interface UploadBody {
  readonly upload_url: string;
  readonly upload_headers: Readonly<Record<string, string>>;
  readonly image_url: string;
}

const newest = async () => (await service.operator.creations.list(client.account.id, 1))[0];

describe('The request in', () => {
  it('every language is run here', () => {
    expect(snippetsOf(first).map(({ name }) => name)).toEqual(Object.keys(programs));
  });

  it.each(Object.keys(programs))('%s waits for the image and saves it', async (name) => {
    const { image } = await ranAs(name, first);
    expect(image.subarray(1, 4).toString()).toBe('PNG');
    expect(await newest()).toMatchObject({ prompt: first.prompt, status: 'completed' });
  });

  it.each(Object.keys(programs))('%s orders all that the form has', async (name) => {
    const upload = await service.send('/uploads', {
      key: client.key,
      body: { content_type: 'image/png', bytes: png(64, 64).byteLength },
    });
    const { upload_url, upload_headers: headers, image_url } = upload.body as UploadBody;
    await fetch(upload_url, { method: 'PUT', headers, body: new Uint8Array(png(64, 64)) });
    const body = {
      model: 'sandbox-standard',
      prompt: 'a canal',
      ...{ resolution: '2K', aspect_ratio: '3:2', output_format: 'jpeg', seed: 7, image_urls: [image_url] },
    };
    const { image } = await ranAs(name, body);
    expect([...image.subarray(0, 2)]).toEqual([0xff, 0xd8]);
    expect(await newest()).toMatchObject({
      ...{ model: 'sandbox-standard', prompt: 'a canal', resolution: '2K', aspectRatio: '3:2' },
      ...{ outputFormat: 'jpeg', seed: 7, sources: [{ contentType: 'image/png' }] },
    });
  });

  it('curl ends at once with the refusal when the service refuses', async () => {
    const text = snippetsOf(first, 'dk_live_wrong')[0]?.text ?? '';
    const { stdout } = await runSnippet('sh', ['-c', text], { cwd: folder });
    expect(JSON.parse(stdout)).toMatchObject({ error: { details: { reason: 'api_key_invalid' } } });
  });
});
