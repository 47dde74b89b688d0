/** A fake of Black Forest Labs that counts the jobs of each prompt and renders when a test says so. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliDecompressSync } from 'node:zlib';
import * as z from 'zod';
import {
  type FakeVendor,
  fieldsOf,
  pictureOf,
  type Reply,
  startFakeVendor,
} from '../../lab/vendors/fakes/fake-vendor.ts';
import { enableAll, environmentOf } from '../../lab/vendors/fleet.ts';
import { synthesizedTemplate } from '../../start/synthesized-template.ts';
import { type Client, startTestService, type TestService } from '../fixtures/service.ts';
import { nameOf } from '../stack/template.ts';
import { type Receiver, startReceiver } from '../whole/workflow/receiver.ts';

interface SlowVendor extends FakeVendor {
  /** How many jobs the vendor has accepted for this prompt. */
  readonly jobsFor: (prompt: string) => number;
  /** Whether a poll says Ready. */
  readonly mood: { isReady: boolean };
}

async function startSlowVendor(): Promise<SlowVendor> {
  const mood = { isReady: false };
  const prompts: unknown[] = [];
  const vendor = await startFakeVendor(({ path, json }, origin): Reply => {
    if (path.startsWith('/v1/get_result')) {
      const result = mood.isReady ? { sample: `${origin}/sample.png` } : null;
      return { status: 200, body: { id: '1', status: mood.isReady ? 'Ready' : 'Pending', result } };
    }
    if (path === '/sample.png')
      return { status: 200, headers: { 'content-type': 'image/png' }, body: pictureOf('png', 1024, 1024) };
    const { prompt } = fieldsOf(json);
    if (typeof prompt !== 'string') return { status: 422 };
    const id = String(prompts.push(prompt));
    return { status: 200, body: { id, polling_url: `${origin}/v1/get_result?id=${id}` } };
  });
  return { ...vendor, mood, jobsFor: (prompt) => prompts.filter((one) => one === prompt).length };
}

/**
 * A release as it is stored in test/fixtures/releases: the bundles of its functions, its state machine, and
 * the table that it left behind with creations in each state. `node test/fixtures/releases/write.ts COMMIT`
 * writes it.
 */
export const storedReleases = fileURLToPath(new URL('../fixtures/releases/', import.meta.url));

/** Addresses that differ from run to run have these names in the stored table. */
export const placeholders = { vendor: 'http://vendor.test', receiver: 'http://receiver.test' } as const;

/** Functions with the same code name the same bundle. */
const bundlesSchema = z.object({
  functions: z.record(z.string(), z.string()),
  texts: z.record(z.string(), z.string()),
});
const leftSchema = z.object({
  /** Unix milliseconds at which the table was read. */
  at: z.number(),
  /** The items of the table, in the JSON of DynamoDB. */
  items: z.array(z.record(z.string(), z.record(z.string(), z.unknown()))),
  /** The inputs of the executions that ran then, by their names. */
  executions: z.record(z.string(), z.string()),
});

interface StoredRelease {
  /** The folder of each function's bundle, by the name of its construct. */
  readonly bundles: ReadonlyMap<string, string>;
  /** The definition in Amazon States Language, with its substitutions open. */
  readonly definition: string;
  /** The table that the release left. `addresses` replaces the placeholders. */
  left(addresses: Readonly<Record<keyof typeof placeholders, string>>): z.output<typeof leftSchema>;
  remove(): Promise<void>;
}

/** Unpacks the bundles into a temporary folder. */
export async function openStoredRelease(commit: string): Promise<StoredRelease> {
  const stored = join(storedReleases, commit);
  const packed = brotliDecompressSync(await readFile(join(stored, 'bundles.json.br'))).toString();
  const { functions, texts } = bundlesSchema.parse(JSON.parse(packed));
  const folder = await mkdtemp(join(tmpdir(), `darkroom-${commit}-`));
  for (const [hash, text] of Object.entries(texts)) {
    await mkdir(join(folder, hash));
    await writeFile(join(folder, hash, 'index.mjs'), text);
  }
  const table = await readFile(join(stored, 'table.json'), 'utf8').catch(() => '');
  return {
    bundles: new Map(Object.entries(functions).map(([name, hash]) => [name, join(folder, hash)])),
    definition: await readFile(join(stored, 'definition.asl.json'), 'utf8'),
    left: ({ vendor, receiver }) =>
      leftSchema.parse(
        JSON.parse(table.replaceAll(placeholders.vendor, vendor).replaceAll(placeholders.receiver, receiver)),
      ),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** One machine whose functions run the code of a stored release or of today, as a test says. */
export type Release = 'stored' | 'today';

export interface TwoReleases {
  readonly service: TestService;
  readonly stored: StoredRelease;
  readonly vendor: SlowVendor;
  readonly receiver: Receiver;
  /**
   * From now on each invocation that begins runs the code of this release. Today's definition names versions of its
   * functions, so its Tasks always run today's code. The stored one names the functions themselves.
   */
  use(release: Release): void;
  /** Lets the running invocations of a function crash. Gives their number. */
  crash(functionPart: string, match: string): Promise<number>;
  /** A client whose pictures the slow vendor renders. */
  vendorClient(): Promise<Client>;
  end(): Promise<void>;
}

export interface TwoReleasesOptions {
  readonly commit: string;
  /** Whose state machine runs. */
  readonly definition: Release;
  /** A folder with data. The default is a new folder. */
  readonly folder?: string;
}

const taskFunctions = /^(RenderImage\w*|RefundCharge|DeliverWebhook)$/;

export async function startTwoReleases({
  commit,
  definition,
  folder,
}: TwoReleasesOptions): Promise<TwoReleases> {
  const [stored, vendor, receiver] = await Promise.all([
    openStoredRelease(commit),
    startSlowVendor(),
    startReceiver(),
  ]);
  const templates = await mkdtemp(join(tmpdir(), 'darkroom-template-'));
  const service = await startTestService({
    environment: environmentOf([['bfl', vendor]]),
    ...(folder !== undefined && { folder }),
    ...(definition === 'stored' && { templatePath: await templateWith(stored.definition, templates) }),
  });
  const { machine, operator } = service;
  await enableAll(operator);
  return {
    service,
    stored,
    vendor,
    receiver,
    use: (release) => {
      for (const { id, codeFolder } of machine.template.functions) {
        const isPinned = definition === 'today' && taskFunctions.test(nameOf(id));
        const bundle = release === 'today' || isPinned ? codeFolder : stored.bundles.get(nameOf(id));
        // A function that the stored release did not have runs the code of today.
        if (bundle !== undefined) machine.updateCode(id, bundle);
      }
    },
    crash: async (functionPart, match) => {
      const body = JSON.stringify({ function: functionPart, match });
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(`${machine.localUrl}/crashes`, { method: 'POST', body, headers });
      return z.object({ crashed: z.number() }).parse(await answer.json()).crashed;
    },
    vendorClient: async () => {
      const client = await service.client();
      await operator.accounts.change(client.account.id, { providers: ['bfl'] });
      return client;
    },
    end: async () => {
      await service.end();
      await Promise.all([vendor.stop(), receiver.close(), stored.remove()]);
      await rm(templates, { recursive: true, force: true });
    },
  };
}

const templateSchema = z.looseObject({
  Resources: z.record(
    z.string(),
    z.looseObject({
      Type: z.string(),
      Metadata: z.record(z.string(), z.unknown()).optional(),
      Properties: z.record(z.string(), z.unknown()).optional(),
    }),
  ),
});

/** Writes the template of today with another text of the state machine, and gives its path. */
async function templateWith(definition: string, folder: string): Promise<string> {
  const path = await synthesizedTemplate();
  const template = templateSchema.parse(JSON.parse(await readFile(path, 'utf8')));
  for (const [id, { Type, Metadata, Properties }] of Object.entries(template.Resources)) {
    const asset = Metadata?.['aws:asset:path'];
    if (Metadata && typeof asset === 'string') Metadata['aws:asset:path'] = resolve(dirname(path), asset);
    if (Type === 'AWS::StepFunctions::StateMachine' && nameOf(id) === 'CreationStateMachine')
      Object.assign(Properties ?? {}, { DefinitionString: definition });
  }
  const changed = join(folder, 'Darkroom.template.json');
  await writeFile(changed, JSON.stringify(template));
  return changed;
}
