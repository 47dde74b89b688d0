/** The operator's commands about vendors: `providers` and `catalog check`. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { readCatalog, readProviderCosts } from '../../../admin/catalog/catalog-files.ts';
import { checkCatalog } from '../../../admin/commands/catalog.ts';
import type { Row } from '../../../client/command/terminal/output.ts';
import { fakes } from '../../../lab/vendors/fakes/all-fakes.ts';
import { type FakeVendor, fieldsOf } from '../../../lab/vendors/fakes/fake-vendor.ts';
import { fakeOpenaiKey } from '../../../lab/vendors/fakes/openai/server.ts';
import { environmentOf } from '../../../lab/vendors/fleet.ts';
import type { Model } from '../../../service/catalog/catalog-schema.ts';
import { providers } from '../../../service/catalog/providers.ts';
import { costOf } from '../../../service/render/route-costs.ts';
import { admin as runHere } from '../../admin/admin-run.ts';
import { startTestService, type TestService } from '../../fixtures/service.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const key = fakeOpenaiKey;
const namesOfVendors = Object.entries(providers)
  .filter(([, { credential }]) => credential !== 'none')
  .map(([name]) => name)
  .join(', ');
const anyText: unknown = expect.any(String);
const anyNumber: unknown = expect.any(Number);
const isStale: unknown = expect.stringMatching(/^stale: read (144|68) days ago$/);
const withGptImage: unknown = expect.arrayContaining(['gpt-image-2']);

let openai: FakeVendor;
let google: FakeVendor;
let service: TestService;
beforeAll(async () => {
  openai = await fakes.openai.start();
  google = await fakes.google.start();
  service = await startTestService({
    environment: environmentOf([
      ['openai', openai],
      ['google', google],
    ]),
  });
});
afterAll(async () => {
  await service.end();
  await Promise.all([openai.stop(), google.stop()]);
});

interface Said {
  readonly code: number;
  readonly out: string;
  readonly complaint: string;
  /** The document of a command that succeeded; empty after a failure. */
  readonly json: Readonly<Record<string, unknown>>;
}

/** Runs a command. A command that reads standard input gets a process of its own. */
async function admin(args: readonly string[], input?: string): Promise<Said> {
  const said =
    input === undefined ? await runHere(service.folder, '--json', ...args) : await run(args, input);
  return { ...said, json: said.code === 0 ? fieldsOf(JSON.parse(said.out)) : {} };
}

/** Sets a key as the command does, without a process for its standard input. */
async function setKey(name: string, to: string): Promise<void> {
  await service.operator.credentials.set(name, to);
  await service.operator.providers.enable(name);
}

/** Expects a row with these fields in a list. */
function expectListed({ data }: Said['json'], fields: object): void {
  expect(data).toContainEqual(expect.objectContaining(fields));
}

async function run(args: readonly string[], input: string): Promise<Omit<Said, 'json'>> {
  const child = spawn(process.execPath, ['bin/admin.ts', '--json', '--data', service.folder, ...args], {
    cwd: root,
  });
  child.stdin.end(input);
  const [out, complaint] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { code: child.exitCode ?? 1, out, complaint };
}

const modelsSchema = z.object({ data: z.array(z.record(z.string(), z.unknown())) });

async function modelOf(id: string): Promise<Record<string, unknown> | undefined> {
  const { text: body } = await service.send('/models');
  return modelsSchema.parse(JSON.parse(body)).data.find((model) => model['id'] === id);
}

describe('a vendor without a key', () => {
  it('is not enabled in GET /models, and a request for its model is refused with 503', async () => {
    expect(await modelOf('gpt-image-2')).toMatchObject({
      available: false,
      unavailable_reason: 'no_provider_enabled',
      resolutions: [],
    });
    const answer = await service.send('/images/generate', {
      body: { model: 'gpt-image-2', prompt: 'a lake' },
    });
    expect(answer.status).toBe(503);
    expect(answer.body).toMatchObject({
      error: { code: 'ERR_PROVIDER_UNAVAILABLE', details: { reason: 'no_provider_enabled' } },
    });
    const { json } = await admin(['providers', 'list']);
    expectListed(json, { provider: 'openai', key: 'missing', enabled: 'no' });
    expectListed(json, { provider: 'sandbox', key: 'none needed', enabled: 'yes' });
  });
});

describe('a vendor whose key an operator sets', () => {
  it('is enabled by a key from standard input, and no output shows the key', async () => {
    const set = await admin(['providers', 'set', 'openai'], `${key}\n`);
    expect(set.json).toMatchObject({ provider: 'openai', enabled: true, models: withGptImage });
    const list = await admin(['providers', 'list']);
    expectListed(list.json, { provider: 'openai', key: 'set', enabled: 'yes' });
    expect(`${set.out}${set.complaint}${list.out}`).not.toContain(key);
    expect(await modelOf('gpt-image-2')).toMatchObject({ available: true, unavailable_reason: null });
  });

  it('checks the key with a call that costs nothing', async () => {
    const good = await admin(['providers', 'check']);
    expect(good.json).toEqual({
      data: [{ provider: 'openai', verdict: 'accepted', detail: anyText, ms: anyNumber }],
    });
    await setKey('openai', 'a-key-of-somebody-else');
    const bad = await admin(['providers', 'check', 'openai']);
    expect(bad.code).toBe(1);
    expect(JSON.parse(bad.out)).toMatchObject({ data: [{ provider: 'openai', verdict: 'refused' }] });
    expect(openai.received.every(({ method }) => method === 'GET')).toBe(true);
  });

  it('is unavailable from the next request on, once the operator removes it', async () => {
    await admin(['providers', 'remove', 'openai']);
    expect(await modelOf('gpt-image-2')).toMatchObject({ available: false });
    const { json } = await admin(['providers', 'list']);
    expectListed(json, { provider: 'openai', key: 'missing', enabled: 'no' });
  });
});

describe('A key that an operator sets while the renderers run', () => {
  const render = async (model: string): Promise<unknown> =>
    (
      await service.send('/images/generate', {
        headers: { prefer: 'wait=20' },
        body: { model, prompt: 'a lake', resolution: '1K' },
      })
    ).body;
  const completed = { status: 'completed' };

  it('A provider renders from the next request on, though its renderer kept the keys without it', async () => {
    await setKey('openai', key);
    expect(await render('gpt-image-2')).toMatchObject(completed);
    await setKey('google', fakes.google.key ?? '');
    expect(await render('gemini-3-pro-image')).toMatchObject(completed);
  });
});

describe('The account at a vendor whose callbacks count', () => {
  const rows = async (): Promise<unknown> => (await admin(['providers', 'callbacks'])).json['data'];
  const replicate = {
    provider: 'replicate',
    verifiable: 'no',
    callback_account: 'that of the key',
    missing: ['key'],
  };

  it('It is set without a key, replaced, and unset in two ways', async () => {
    const set = (...args: readonly string[]): Promise<Said> => admin(['providers', 'set', 'fal', ...args]);
    const unset = { provider: 'fal', callback_account: null };
    expect((await set('--callback-account', 'github|1234567')).json).toEqual({
      provider: 'fal',
      callback_account: 'github|1234567',
    });
    expect((await set('--callback-account', 'user_2')).json).toMatchObject({ callback_account: 'user_2' });
    expect(await rows()).toEqual([
      { provider: 'fal', verifiable: 'no', callback_account: 'user_2', missing: ['key'] },
      replicate,
    ]);
    expect((await set('--callback-account', '')).json).toEqual(unset);
    await set('--callback-account', 'user_3');
    expect((await set('--no-callback-account')).json).toEqual(unset);
    expect(await rows()).toEqual([
      { provider: 'fal', verifiable: 'no', callback_account: null, missing: ['key', 'account'] },
      replicate,
    ]);
  });

  it('Callbacks of a vendor can be verified once nothing is missing', async () => {
    await setKey('fal', 'a-key-of-fal');
    await setKey('replicate', 'a-key-of-replicate');
    await admin(['providers', 'set', 'fal', '--callback-account', 'user_2']);
    expect(await rows()).toEqual([
      { provider: 'fal', verifiable: 'yes', callback_account: 'user_2', missing: [] },
      { ...replicate, verifiable: 'yes', missing: [] },
    ]);
    const list = await admin(['providers', 'list']);
    expectListed(list.json, { provider: 'fal', key: 'set', enabled: 'yes' });
    await admin(['providers', 'remove', 'fal']);
    await admin(['providers', 'remove', 'replicate']);
    expect(await rows()).toEqual([
      { provider: 'fal', verifiable: 'no', callback_account: null, missing: ['key', 'account'] },
      replicate,
    ]);
  });
});

describe('a wrong command', () => {
  const askedFor = 'give the user id, as the header X-Fal-Webhook-User-Id of one of your webhooks has it.';
  const unknown = (name: string): string =>
    `There is no provider "${name}" with a key to set: known are ${namesOfVendors}.`;
  const noUserId = 'a user id has 3 to 200 printable characters and no spaces';
  const noneNeeded =
    'replicate needs no account, because its token proves the account: leave the option out.';
  const set = (name: string, account?: string): string[] => [
    ...['providers', 'set', name],
    ...(account === undefined ? [] : ['--callback-account', account]),
  ];
  it.each([
    [set('nobody'), unknown('nobody')],
    [set('sandbox'), unknown('sandbox')],
    [
      set('fal', '1b5c0b6e-0000:5f2d'),
      `--callback-account: this looks like a key or an address: ${askedFor}`,
    ],
    [set('fal', 'me@example.com'), `--callback-account: this looks like an e-mail address: ${askedFor}`],
    [set('fal', 'my name'), `--callback-account: ${noUserId}: ${askedFor}`],
    [set('fal', 'me'), `--callback-account: ${noUserId}: ${askedFor}`],
    [set('replicate', 'user_2'), `--callback-account: ${noneNeeded}`],
    [
      set('bfl', 'user_2'),
      '--callback-account: bfl does not call back, so that its jobs are polled: leave the option out.',
    ],
    [['catalog', 'check', '--max-age', 'long'], '--max-age: "long" is no whole number of days, such as 60.'],
  ])('%j is refused with one sentence that says what to write instead', async (args, message) => {
    const { code, complaint } = await admin(args);
    expect(code).toBe(1);
    expect(JSON.parse(complaint)).toEqual({ error: { message } });
  });

  it('An empty key is refused with one sentence that says what to write instead', async () => {
    const { code, complaint } = await admin(['providers', 'set', 'fal'], ' ');
    expect(code).toBe(1);
    expect(JSON.parse(complaint)).toEqual({
      error: {
        message:
          'The key must have at least 8 printable characters and no spaces: paste it at the question, or pipe it in.',
      },
    });
  });
});

describe('catalog check', () => {
  const day = 86_400_000;
  const at = Date.parse('2026-11-22');
  const [catalog, costs] = [readCatalog(), readProviderCosts()];

  it('has no finding for the catalog of this checkout, except figures that docs/providers.md calls unread', () => {
    const rows = checkCatalog(catalog, costs, at, 60);
    expect(rows.length).toBeGreaterThan(10);
    const isUnread = ({ model, provider }: Row): boolean =>
      (provider === 'replicate' && ['flux-2-pro', 'flux-2-max'].includes(String(model))) ||
      (provider !== 'bfl' && model === 'flux-2-klein-4b') ||
      (provider === 'fal' && model === 'gpt-image-2.5-sunburst');
    for (const row of rows)
      expect(row).toMatchObject({ finding: isUnread(row) ? isStale : null, margin_usd: anyNumber });
  });

  it('names what the margin rule asks for when a price is below it', () => {
    const draft = structuredClone(catalog);
    const priced = draft.models.find(({ id }) => id === 'gemini-3-pro-image')?.pricing[0];
    if (!priced) throw new Error('the catalog has no gemini-3-pro-image');
    priced.usd = 0.185;
    priced.usd_per_input_image = 0.002;
    const found = checkCatalog(draft, costs, at, 60).find(({ model }) => model === 'gemini-3-pro-image');
    expect(found).toMatchObject({
      margin_usd: 0.051,
      finding: 'below the margin rule: usd at least 0.19, usd_per_input_image at least 0.005',
    });
  });

  it('says when a model ends and which model follows it, without making that a finding', () => {
    const draft = structuredClone(catalog);
    const [leaving] = draft.models;
    if (!leaving) throw new Error('the catalog is empty');
    const noticeAt = (change: Partial<Model>, now = at): unknown => {
      Object.assign(leaving, { sunset_at: null, successor: undefined, ...change });
      const [row] = checkCatalog(draft, costs, now, 100_000);
      expect(row).toMatchObject({ finding: null });
      return row?.['notice'];
    };
    expect(noticeAt({})).toBeNull();
    expect(noticeAt({ deprecated_at: '2026-11-20' })).toBe('deprecated on 2026-11-20, no successor');
    const ending = { sunset_at: '2027-06-01', successor: 'sandbox-pro' };
    expect(noticeAt(ending)).toBe('ends on 2027-06-01, in 191 days, successor sandbox-pro');
    const over = Date.parse('2027-06-01');
    expect(noticeAt(ending, over - 1)).toBe('ends on 2027-06-01, in 1 day, successor sandbox-pro');
    expect(noticeAt(ending, over)).toBe('ended on 2027-06-01, successor sandbox-pro');
  });

  it('names each price that is below its cost, without a known cost, or read too long ago', () => {
    const [model] = catalog.models;
    const [route] = model?.routes ?? [];
    const draft = structuredClone(costs);
    const cost = route && costOf(draft, route);
    const [image] = cost?.images ?? [];
    if (!model || !image || !cost) throw new Error('the catalog is empty');
    image.usd = (model.pricing[0]?.usd ?? 0) + 0.000_001;
    expect(checkCatalog(catalog, draft, at, 60)[0]).toMatchObject({
      model: model.id,
      margin_usd: -0.000_001,
      finding: 'sold at a loss',
    });
    cost.images.length = 0;
    expect(checkCatalog(catalog, draft, at, 60)[0]).toMatchObject({
      model: model.id,
      finding: 'its cost is not known',
    });
    const stale = checkCatalog(catalog, costs, at + 200 * day, 60);
    expect(stale.every(({ finding }) => String(finding).startsWith('stale: read '))).toBe(true);
  });
});
