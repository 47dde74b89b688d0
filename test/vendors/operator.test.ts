/** The operator's commands about vendors: `providers` and `catalog check`. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { checkCatalog } from '../../admin/commands/catalog.ts';
import { readCatalog, readProviderCosts } from '../../admin/catalog/catalog-files.ts';
import { costOf } from '../../core/provider-costs.ts';
import { providers } from '../../core/providers.ts';
import { startTestService, type TestService } from '../fixtures/service.ts';
import { fakes } from '../../tools/vendors/fakes/all-fakes.ts';
import { fakeOpenaiKey } from '../../tools/vendors/fakes/openai/server.ts';
import { fieldsOf, type FakeVendor } from '../../tools/vendors/fakes/fake-vendor.ts';
import { environmentOf } from '../../tools/vendors/fleet.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const key = fakeOpenaiKey;
const namesOfVendors = Object.entries(providers)
  .filter(([, { credential }]) => credential !== 'none')
  .map(([name]) => name)
  .join(', ');
const anyText: unknown = expect.any(String);
const anyNumber: unknown = expect.any(Number);
const withGptImage: unknown = expect.arrayContaining(['gpt-image-2']);

let openai: FakeVendor;
let service: TestService;
beforeAll(async () => {
  openai = await fakes.openai.start();
  service = await startTestService({ environment: environmentOf([['openai', openai]]) });
});
afterAll(async () => {
  await service.end();
  await openai.stop();
});

interface Said {
  readonly code: number;
  readonly out: string;
  readonly complaint: string;
  /** The document of a command that succeeded; empty after a failure. */
  readonly json: Readonly<Record<string, unknown>>;
}

async function admin(args: readonly string[], input = ''): Promise<Said> {
  const child = spawn(process.execPath, ['bin/admin.ts', '--json', '--data', service.folder, ...args], {
    cwd: root,
  });
  child.stdin.end(input);
  const [out, complaint] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  const code = child.exitCode ?? 1;
  return { code, out, complaint, json: code === 0 ? fieldsOf(JSON.parse(out)) : {} };
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
    expect(json.data).toContainEqual(
      expect.objectContaining({ provider: 'openai', key: 'missing', enabled: 'no' }),
    );
    expect(json.data).toContainEqual(
      expect.objectContaining({ provider: 'sandbox', key: 'none needed', enabled: 'yes' }),
    );
  });
});

describe('a vendor whose key an operator sets', () => {
  it('is enabled by a key from standard input, and no output shows the key', async () => {
    const set = await admin(['providers', 'set', 'openai'], `${key}\n`);
    expect(set.json).toMatchObject({
      provider: 'openai',
      enabled: true,
      models: withGptImage,
    });
    const list = await admin(['providers', 'list']);
    expect(list.json.data).toContainEqual(
      expect.objectContaining({ provider: 'openai', key: 'set', enabled: 'yes' }),
    );
    expect(`${set.out}${set.complaint}${list.out}`).not.toContain(key);
    expect(await modelOf('gpt-image-2')).toMatchObject({ available: true, unavailable_reason: null });
  });

  it('checks the key with a call that costs nothing', async () => {
    const good = await admin(['providers', 'check']);
    expect(good.json).toEqual({
      data: [
        {
          provider: 'openai',
          verdict: 'accepted',
          detail: anyText,
          ms: anyNumber,
        },
      ],
    });
    await admin(['providers', 'set', 'openai'], 'a-key-of-somebody-else');
    const bad = await admin(['providers', 'check', 'openai']);
    expect(bad.code).toBe(1);
    expect(JSON.parse(bad.out)).toMatchObject({ data: [{ provider: 'openai', verdict: 'refused' }] });
    expect(openai.received.every(({ method }) => method === 'GET')).toBe(true);
  });

  it('is unavailable from the next request on, once the operator removes it', async () => {
    await admin(['providers', 'remove', 'openai']);
    expect(await modelOf('gpt-image-2')).toMatchObject({ available: false });
    const { json } = await admin(['providers', 'list']);
    expect(json.data).toContainEqual(
      expect.objectContaining({ provider: 'openai', key: 'missing', enabled: 'no' }),
    );
  });
});

describe('a wrong command', () => {
  it.each([
    [
      ['providers', 'set', 'nobody'],
      `There is no provider "nobody" with a key to set: known are ${namesOfVendors}.`,
    ],
    [
      ['providers', 'set', 'sandbox'],
      `There is no provider "sandbox" with a key to set: known are ${namesOfVendors}.`,
    ],
    [
      ['providers', 'set', 'fal'],
      'The key must have at least 8 printable characters and no spaces: paste it at the question, or pipe it in.',
    ],
    [['catalog', 'check', '--max-age', 'long'], '--max-age: "long" is no whole number of days, such as 180.'],
  ])(
    '%j is refused with one sentence that tells the operator what to write instead',
    async (args, message) => {
      const { code, complaint } = await admin(args, ' ');
      expect(code).toBe(1);
      expect(JSON.parse(complaint)).toEqual({ error: { message } });
    },
  );
});

describe('catalog check', () => {
  const day = 86_400_000;
  const at = Date.parse('2026-11-22');
  const [catalog, costs] = [readCatalog(), readProviderCosts()];

  it('has no finding for the catalog of this checkout', () => {
    const rows = checkCatalog(catalog, costs, at, 180);
    expect(rows.length).toBeGreaterThan(10);
    for (const row of rows) expect(row).toMatchObject({ finding: null, margin_usd: anyNumber });
  });

  it('names each price that is below its cost, without a known cost, or read too long ago', () => {
    const [model] = catalog.models;
    const [route] = model?.routes ?? [];
    const draft = structuredClone(costs);
    const cost = route && costOf(draft, route);
    const [image] = cost?.images ?? [];
    if (!model || !image || !cost) throw new Error('the catalog is empty');
    image.usd = (model.pricing[0]?.usd ?? 0) + 0.000_001;
    expect(checkCatalog(catalog, draft, at, 180)[0]).toMatchObject({
      model: model.id,
      margin_usd: -0.000_001,
      finding: 'sold at a loss',
    });
    cost.images.length = 0;
    expect(checkCatalog(catalog, draft, at, 180)[0]).toMatchObject({
      model: model.id,
      finding: 'its cost is not known',
    });
    const stale = checkCatalog(catalog, costs, at + 200 * day, 180);
    expect(stale.every(({ finding }) => String(finding).startsWith('stale: read '))).toBe(true);
  });
});
