/** What an operator does about vendors, by the commands themselves. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkCatalog } from '../../admin/commands/catalog.ts';
import type { Catalog } from '../../core/catalog.ts';
import { costOf, type ProviderCosts } from '../../core/provider-costs.ts';
import models from '../../catalog/models.json' with { type: 'json' };
import costs from '../../catalog/provider-costs.json' with { type: 'json' };
import { startTestService, type TestService } from '../fixtures/service.ts';
import { fakes } from '../../tools/vendors/fakes/all-fakes.ts';
import type { FakeVendor } from '../../tools/vendors/fakes/fake-vendor.ts';
import { environmentOf } from './fleet.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const key = 'fake-openai-key';

let openai: FakeVendor;
let service: TestService;
beforeAll(async () => {
  openai = await fakes.openai.start();
  service = await startTestService({ environment: environmentOf({ openai }) });
});
afterAll(async () => {
  await service.end();
  await openai.stop();
});

interface Said {
  readonly code: number;
  readonly out: string;
  readonly complaint: string;
  /** Of a command that succeeded. */
  readonly json: { readonly data?: readonly unknown[] } & Readonly<Record<string, unknown>>;
}

async function admin(args: readonly string[], input = ''): Promise<Said> {
  const child = spawn(process.execPath, ['bin/admin.ts', '--json', '--data', service.folder, ...args], {
    cwd: root,
  });
  child.stdin.end(input);
  const [out, complaint, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit') as Promise<[number]>,
  ]);
  return { code, out, complaint, json: (code === 0 ? JSON.parse(out) : {}) as Said['json'] };
}

async function modelOf(id: string): Promise<Record<string, unknown> | undefined> {
  const { body } = (await service.send('/models')) as { body: { data: Record<string, unknown>[] } };
  return body.data.find((model) => model['id'] === id);
}

describe('a vendor', () => {
  it('without a key is not enabled: GET /models says so, and a request is refused without a charge', async () => {
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

  it('is enabled by its key from standard input, which is shown nowhere', async () => {
    const set = await admin(['providers', 'set', 'openai'], `${key}\n`);
    expect(set.json).toMatchObject({
      provider: 'openai',
      enabled: true,
      models: expect.arrayContaining(['gpt-image-2']) as unknown,
    });
    const list = await admin(['providers', 'list']);
    expect(list.json.data).toContainEqual(
      expect.objectContaining({ provider: 'openai', key: 'set', enabled: 'yes' }),
    );
    expect(`${set.out}${set.complaint}${list.out}`).not.toContain(key);
    expect(await modelOf('gpt-image-2')).toMatchObject({ available: true, unavailable_reason: null });
  });

  it('is asked about its key by a call that costs nothing', async () => {
    const good = await admin(['providers', 'check']);
    expect(good.json).toEqual({
      data: [
        {
          provider: 'openai',
          verdict: 'accepted',
          detail: expect.any(String) as string,
          ms: expect.any(Number) as number,
        },
      ],
    });
    await admin(['providers', 'set', 'openai'], 'a-key-of-somebody-else');
    const bad = await admin(['providers', 'check', 'openai']);
    expect(bad.code).toBe(1);
    expect(JSON.parse(bad.out)).toMatchObject({ data: [{ provider: 'openai', verdict: 'refused' }] });
    expect(openai.received.every(({ method }) => method === 'GET')).toBe(true);
  });

  it('is out at the next request once it is removed', async () => {
    await admin(['providers', 'remove', 'openai']);
    expect(await modelOf('gpt-image-2')).toMatchObject({ available: false });
    const { json } = await admin(['providers', 'list']);
    expect(json.data).toContainEqual(
      expect.objectContaining({ provider: 'openai', key: 'missing', enabled: 'no' }),
    );
  });

  it.each([
    [
      ['providers', 'set', 'acme'],
      'There is no provider "acme" with a key to set: known are bedrock, openai, google, bfl, fal, replicate.',
    ],
    [
      ['providers', 'set', 'sandbox'],
      'There is no provider "sandbox" with a key to set: known are bedrock, openai, google, bfl, fal, replicate.',
    ],
    [
      ['providers', 'set', 'fal'],
      'The key must have at least 8 printable characters and no spaces: paste it at the question, or pipe it in.',
    ],
    [['catalog', 'check', '--max-age', 'long'], '--max-age: "long" is no whole number of days, such as 180.'],
  ])('%j is refused in one sentence that says what would be right', async (args, message) => {
    const { code, complaint } = await admin(args, ' ');
    expect(code).toBe(1);
    expect(JSON.parse(complaint)).toEqual({ error: { message } });
  });
});

describe('catalog check', () => {
  const day = 86_400_000;
  const at = Date.parse('2026-11-22');

  it('finds nothing in the catalog of today', () => {
    const rows = checkCatalog(models as Catalog, costs as ProviderCosts, at, 180);
    expect(rows.length).toBeGreaterThan(10);
    for (const row of rows)
      expect(row).toMatchObject({ finding: null, margin_usd: expect.any(Number) as number });
  });

  it('shows each price that is sold at a loss, is not known, or was read too long ago', () => {
    const [model] = (models as Catalog).models;
    const [route] = model?.routes ?? [];
    const draft = structuredClone(costs) as ProviderCosts;
    const cost = route && costOf(draft, route);
    const [image] = cost?.images ?? [];
    if (!model || !image || !cost) throw new Error('the catalog is empty');
    image.usd = (model.pricing[0]?.usd ?? 0) + 0.000_001;
    expect(checkCatalog(models as Catalog, draft, at, 180)[0]).toMatchObject({
      model: model.id,
      margin_usd: -0.000_001,
      finding: 'sold at a loss',
    });
    cost.images.length = 0;
    expect(checkCatalog(models as Catalog, draft, at, 180)[0]).toMatchObject({
      model: model.id,
      finding: 'its cost is not known',
    });
    const stale = checkCatalog(models as Catalog, costs as ProviderCosts, at + 200 * day, 180);
    expect(stale.every(({ finding }) => String(finding).startsWith('stale: read '))).toBe(true);
  });
});
