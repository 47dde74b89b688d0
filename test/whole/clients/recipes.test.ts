/** The recipes of docs/recipes.md, as they stand on the page, against the service. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { Darkroom } from '../../../client/src/index.ts';
import { pageExamples, type Ran, runExample } from '../../client/doc-examples.ts';
import { type Client, sharedTestService, type TestService } from '../../fixtures/service.ts';
import { png } from '../image-files.ts';

const examples = new Map(pageExamples('docs/recipes.md').map((example) => [example.name, example]));

let service: TestService;
let folder: string;
beforeAll(async () => {
  vi.stubGlobal('AI_SDK_LOG_WARNINGS', false);
  service = await sharedTestService();
  folder = await mkdtemp(join(tmpdir(), 'darkroom-recipes-'));
});
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
