/** Runs a program of client/examples/ or docs/recipes.md as a client's developer would: as it stands, in a process of its own. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import type { CreationRecord } from '../../service/creations/creation.ts';
import { pageExamples } from '../client/doc-examples.ts';
import { root } from '../docs/pages.ts';
import { type Client, sharedTestService } from '../fixtures/service.ts';

interface Ran {
  readonly code: number | null;
  readonly printed: string;
  readonly complained: string;
}

/** The commands that run the examples, by the ending of the file. Node is the one that runs the tests. */
const interpreters = { mjs: process.execPath, py: 'python3', sh: 'bash' } as const;

type Ending = keyof typeof interpreters;

/** What the example needs and this machine does not have; undefined when everything is there. */
function missingFor(ending: Ending): string | undefined {
  const needed = { mjs: [], py: ['python3'], sh: ['bash', 'curl'] }[ending];
  return needed.find((program) => spawnSync(program, ['--version']).status !== 0);
}

async function runExample(
  ending: Ending,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<Ran> {
  const program = ending === 'py' ? fromPage : join(root, `client/examples/generate.${ending}`);
  const child = spawn(interpreters[ending], [program, ...args], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const texts = { printed: '', complained: '' };
  child.stdout.on('data', (chunk: Buffer) => (texts.printed += String(chunk)));
  child.stderr.on('data', (chunk: Buffer) => (texts.complained += String(chunk)));
  await once(child, 'close');
  return { code: child.exitCode, ...texts };
}

const service = await sharedTestService();
const folder = await mkdtemp(join(tmpdir(), 'darkroom-examples-'));
const fromPage = join(folder, 'generate.py');
const [python] = pageExamples('docs/recipes.md');
await writeFile(fromPage, python?.code ?? '');
afterEach(() => service.machine.faults.clear());
afterAll(async () => {
  await service.end();
  await rm(folder, { recursive: true, force: true });
});

const endings: readonly Ending[] = ['mjs', 'py', 'sh'];
const prompt = 'a "quiet" lake \\ at dawn';

/** A test of one program, skipped with a note where this machine lacks what the program needs. */
function itRuns(title: string, test: (ending: Ending) => Promise<void>): void {
  it.for(endings)(title, async (ending, { skip }) => {
    const missing = missingFor(ending);
    skip(missing !== undefined, `${String(missing)} is not installed`);
    await test(ending);
  });
}

async function run(ending: Ending, client: Pick<Client, 'key'>, text = prompt): Promise<Ran> {
  const { apiUrl } = service.machine;
  const environment = {
    ...{ DARKROOM_API: apiUrl, DARKROOM_KEY: client.key },
    ...{ DARKROOM_BASE_URL: new URL(apiUrl).origin, DARKROOM_API_KEY: client.key },
  };
  return runExample(ending, [text, join(folder, `${ending}.png`)], environment);
}

async function creationsOf({ account }: Client): Promise<readonly CreationRecord[]> {
  return service.operator.creations.list(account.id, 10);
}

describe('The example programs that render an image', () => {
  itRuns('generate.%s saves the image of its prompt', async (ending) => {
    const client = await service.client();
    const ran = await run(ending, client);
    expect(ran).toMatchObject({ code: 0, complained: '' });
    expect(ran.printed).toMatch(/^accepted {3}[0-9a-f-]{36}.*\ncompleted {2}\S+\n$/);
    expect((await readFile(join(folder, `${ending}.png`))).subarray(1, 4).toString()).toBe('PNG');
    expect(await creationsOf(client)).toMatchObject([{ prompt }]);
  });

  itRuns('generate.%s says why a creation failed and ends with exit code 1', async (ending) => {
    const ran = await run(ending, await service.client(), 'a lake [sandbox:fail]');
    expect(ran.code).toBe(1);
    expect(ran.complained).toContain('generation_failed: Generation failed. Please try again.');
  });

  itRuns('generate.%s says that a key is not valid and ends with exit code 1', async (ending) => {
    const ran = await run(ending, { key: 'dk_live_mistyped' });
    expect(ran).toMatchObject({ code: 1, printed: '' });
    expect(ran.complained).toContain('ERR_API_KEY_INVALID');
  });

  itRuns('generate.%s makes one creation although its first request got a 503', async (ending) => {
    const client = await service.client();
    // The service tries a charge ten times before it answers 503 `overloaded`.
    service.machine.faults.set({
      call: 'dynamodb:TransactWriteItems',
      error: 'TransactionConflict',
      caller: 'GenerateImage',
      times: 11,
    });
    const linesBefore = service.log.length;
    const ran = await run(ending, client);
    expect(ran).toMatchObject({ code: 0 });
    expect(service.machine.faults.list()).toEqual([]);
    expect(service.log.slice(linesBefore).filter((line) => line.includes('"request_shed"'))).not.toEqual([]);
    expect(await creationsOf(client)).toHaveLength(1);
  });
});
