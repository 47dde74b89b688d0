/** The recipes of docs/recipes.md and the requests that the portal shows, as they stand there, against the service. */
import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { buildClient } from '../../../client/build.ts';
import { Darkroom } from '../../../client/src/index.ts';
import { requestSnippets } from '../../../portal/src/words/snippets.ts';
import type { GenerateBody } from '../../../service/contract/portal-calls.ts';
import { pageExamples, runExample } from '../../client/doc-examples.ts';
import { allPages, readPage, sectionOf } from '../../docs/pages.ts';
import { sharedTestService } from '../../fixtures/service.ts';
import { png } from '../image-origin.ts';

const examples = pageExamples('docs/recipes.md');

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

const runProgram = promisify(execFile);

interface Recipe {
  /** The creations that it makes. */
  readonly makes: number;
  readonly savesTheLake?: true;
}

/** The recipes of the page in its order. */
const recipes: Readonly<Record<string, Recipe>> = {
  generate: { makes: 1, savesTheLake: true },
  generated: { makes: 1, savesTheLake: true },
  openai: { makes: 1, savesTheLake: true },
  'openai-edit': { makes: 1 },
  'openai-stream': { makes: 1 },
  'openai-errors': { makes: 0 },
  'openai-python': { makes: 2, savesTheLake: true },
  'ai-compatible': { makes: 2 },
  'ai-openai': { makes: 1 },
  litellm: { makes: 2 },
};

/** The packages for Python that a recipe needs and that this machine does not have. Undefined: it has all. */
async function missingFor({ language, code }: (typeof examples)[number]): Promise<string | undefined> {
  if (language !== 'python') return undefined;
  const imports = code.match(/^(?:import|from) .*/gm)?.join('\n') ?? '';
  return runProgram('python3', ['-c', imports]).then(
    () => undefined,
    (error: unknown) => String(error).trim().split('\n').at(-1),
  );
}

/** Runs a recipe in the folder where a reader has run the recipes before. */
async function paste({ name, code, language }: (typeof examples)[number]): Promise<void> {
  if (language === 'python') {
    await writeFile('recipe.py', code);
    const words = name === 'generate' ? ['a quiet lake at dawn', 'lake.png'] : [];
    await runProgram('python3', ['recipe.py', ...words]);
    return;
  }
  const darkroom = new Darkroom({ apiKey: client.key, baseUrl: service.machine.apiUrl });
  const { printed, promised } = await runExample({ name, code }, { darkroom });
  expect(printed).toEqual(promised);
}

const creationsOf = async () => service.operator.creations.list(client.account.id, 50);

describe('The recipes of docs/recipes.md, pasted from top to bottom in one folder and with one key', () => {
  beforeAll(() => {
    vi.stubEnv('OPENAI_API_KEY', client.key);
    vi.stubEnv('OPENAI_BASE_URL', service.machine.openaiUrl);
    vi.stubEnv('DARKROOM_API_KEY', client.key);
    vi.stubEnv('DARKROOM_BASE_URL', new URL(service.machine.apiUrl).origin);
    vi.stubEnv('LITELLM_LOCAL_MODEL_COST_MAP', 'True');
    process.chdir(folder);
  });
  afterAll(() => process.chdir(root));

  it('Every block of code of the page is a recipe that is run here, and the pages beside it have no other', () => {
    expect(examples.map(({ name }) => name)).toEqual(Object.keys(recipes));
    // openai-library.test.ts runs the lines of this section.
    const elsewhere = sectionOf(readPage('docs/openai.md'), '### How long it takes');
    const unnamed = ['recipes', 'client', 'openai'].flatMap((page) =>
      readPage(`docs/${page}.md`).blocks.flatMap(({ example, language, text }) =>
        example === undefined && !elsewhere.includes(text) ? [language] : [],
      ),
    );
    // The settings of a proxy and an answer. The other blocks are commands that install and start.
    expect(unnamed.filter((language) => language !== '')).toEqual(['yaml', 'json']);
  });

  it.for(examples)('The recipe $name does what it says', async (recipe, { skip }) => {
    const missing = await missingFor(recipe);
    skip(missing !== undefined, missing);
    const { makes, savesTheLake } = recipes[recipe.name] ?? { makes: 0 };
    if (savesTheLake) await rm('lake.png', { force: true });
    const before = await creationsOf();
    await paste(recipe);
    const made = (await creationsOf()).slice(0, -before.length || undefined);
    expect(made.map(({ status }) => status)).toEqual(Array(makes).fill('completed'));
    expect((await readFile('lake.png')).subarray(1, 4).toString()).toBe('PNG');
  });

  it('The pictures of one request differ, and a seed gives its pictures again', async () => {
    const pictures = async (more: object): Promise<string[]> => {
      const answer = await fetch(`${service.machine.openaiUrl}/images/generations`, {
        method: 'POST',
        headers: { authorization: `Bearer ${client.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'sandbox-sketch', prompt: 'a lake', n: 2, ...more }),
      });
      const { data } = (await answer.json()) as { data: { b64_json: string }[] };
      return data.map(({ b64_json: picture }) => picture);
    };
    const [drawn, seeded, again] = [
      await pictures({}),
      await pictures({ seed: 7 }),
      await pictures({ seed: 7 }),
    ];
    expect(new Set([...drawn, ...seeded]).size).toBe(4);
    expect(again).toEqual(seeded);
  });
});

it('The commands of docs/command.md run as pasted, in the order of the page', async () => {
  const commands = [
    'npx darkroom generate "a lake" -o lake.png',
    'open "$(darkroom generate "a lake")"',
    'echo "$KEY" | darkroom login --base-url URL',
    'darkroom models',
    'darkroom balance',
    'darkroom generate "in winter" -i "$(darkroom upload lake.png)"',
    'export DARKROOM_WEBHOOK_SECRET=$(darkroom listen --print-secret)',
    'eval "$(darkroom completion bash)"',
  ];
  const page = readPage('docs/command.md').text;
  const places = commands.map((command) => page.indexOf(command));
  expect(places).toEqual(places.filter((place) => place > 0).toSorted((one, other) => one - other));
  const program =
    'npx() { shift; darkroom "$@"; }; open() { test -s "$1"; }; darkroom() { node "$PROGRAM" "$@"; }';
  const script = ['set -euo pipefail', program, ...commands]
    .join('\n')
    .replace('URL', '"$DARKROOM_BASE_URL"');
  const env = {
    ...process.env,
    ...{ DARKROOM_API_KEY: client.key, DARKROOM_BASE_URL: service.machine.apiUrl, KEY: client.key },
    ...{ HOME: folder, XDG_CONFIG_HOME: folder, XDG_STATE_HOME: folder, NO_COLOR: '1' },
    PROGRAM: join(packages, 'darkroom-client/dist/bin/darkroom.js'),
  };
  const { stdout } = await runProgram('bash', ['-c', script], { cwd: folder, env });
  expect(stdout).toMatch(/^lake\.png\n[^]*sandbox-sketch[^]*\n[\w-]+\.\w+\n$/);
});

it('No two blocks or lines of the pages have the same Idempotency-Key, so a reader can paste all of them', () => {
  const keys = allPages().flatMap(({ text }) =>
    [...text.matchAll(/idempotency-?key['"]?: ['"]?([\w-]+-\d+)/gi)].map(([, key]) => key),
  );
  expect(keys.length).toBeGreaterThan(4);
  expect(keys.filter((key, index) => keys.indexOf(key) !== index)).toEqual([]);
});

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
  requestSnippets(
    { api_url: service.machine.apiUrl, openai_url: service.machine.openaiUrl },
    key,
    body,
    new URL(service.machine.portalUrl).origin,
  );

/** Runs the snippet in a folder of its own. Resolves with what it printed, and with the image that it saved. */
async function ranAs(name: string, body: GenerateBody): Promise<{ stdout: string; image: Buffer }> {
  const found = snippetsOf(body).find((one) => one.name === name);
  const [program, file] = programs[name] ?? [];
  if (!found || program === undefined || file === undefined)
    throw new Error(`the portal shows no request named ${name}`);
  const own = await mkdtemp(join(folder, 'run-'));
  await writeFile(join(own, file), found.text);
  const { stdout } = await runProgram(program, [file], { cwd: own });
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
    const { stdout } = await runProgram('sh', ['-c', text], { cwd: folder });
    expect(JSON.parse(stdout)).toMatchObject({ error: { details: { reason: 'api_key_invalid' } } });
  });
});
