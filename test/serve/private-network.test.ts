/** An own GPU in a private network: the operator's addresses may be there, and a client's never. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startFakeServer } from '../../lab/vendors/fakes/compatible/server.ts';
import type { FakeVendor } from '../../lab/vendors/fakes/fake-vendor.ts';
import { connect } from '../../admin/connect.ts';
import type { CreationRecord } from '../../service/creations/creation.ts';
import type { CreationId } from '../../service/values/ids.ts';
import { settled } from '../../start/creations.ts';
import { admin, adminJson, refusal } from '../admin/admin-run.ts';
import { root } from '../docs/pages.ts';
import { newFolder } from '../local/machine-fixture.ts';
import { generate, newKey } from './load.ts';
import { type Served, startServe } from './serve-child.ts';

const folder = join(newFolder(afterAll), 'data');
let gpu: FakeVendor;
/** A name of this machine, whose addresses only a call knows. */
let named = '';
let served: Served;
let key = '';

beforeAll(async () => {
  gpu = await startFakeServer('vllm-omni');
  named = gpu.url.replace('127.0.0.1', 'localhost');
  served = await startServe(folder);
  key = await newKey(folder);
}, 60_000);
afterAll(async () => {
  await served.end();
  await gpu.stop();
});

const add = (url: string): string[] =>
  `providers add gpu --base-url ${url} --style vllm-omni --allow-private`.split(' ');

async function ended(body: object): Promise<CreationRecord> {
  const { status, text } = await generate(served.port, key, 'a lake', {}, body);
  expect(status, text).toBe(202);
  return settled({ operator: await connect({ data: folder }) }, (JSON.parse(text) as { id: CreationId }).id);
}

describe('a service without --allow-private', () => {
  it('calls no provider in a private network', { timeout: 40_000 }, async () => {
    expect(await refusal(folder, ...add(gpu.url))).toContain(
      '--base-url: 127.0.0.1 is in no network of the service: start it with `darkroom serve --allow-private 127.0.0.1`',
    );
    await adminJson(folder, ...add(named));
    const catalog = join(root, 'client/examples/catalogs/vllm-omni-qwen-image.json');
    await adminJson(folder, 'catalog', 'set', catalog);
    expect((await admin(folder, 'providers', 'check', 'gpu')).out).toMatch(/gpu .*ADDRESS_REFUSED/);
    expect(await ended({ model: 'qwen-image' })).toMatchObject({
      ...{ status: 'failed', failure: 'ServiceUnavailable', refundedMicros: 30_000 },
    });
    expect(gpu.received).toEqual([]);
  });
});

describe('a service with --allow-private', () => {
  it('renders at a provider there', { timeout: 60_000 }, async () => {
    await served.end();
    served = await startServe(folder, ['--allow-private', '127.0.0.0/8', '--allow-private', '::1']);
    for (const url of [named, gpu.url]) {
      await adminJson(folder, ...add(url));
      const creation = await ended({ model: 'qwen-image' });
      expect(creation).toMatchObject({ status: 'completed', attempts: [{ provider: 'gpu' }] });
    }
    expect(await refusal(folder, ...add('http://10.0.0.5:8000'))).toContain('10.0.0.5 is in no network');
  });

  it('still reaches no private address that a client names', { timeout: 40_000 }, async () => {
    const before = gpu.received.length;
    for (const url of [gpu.url, named])
      for (const more of [
        { image_urls: [`${url}/a.png`] },
        { webhook_url: url.replace('http:', 'https:') },
      ]) {
        const body = { model: 'sandbox-standard', ...more };
        const { status, text } = await generate(served.port, key, 'a lake', {}, body);
        expect([status, text]).toEqual([
          400,
          expect.stringContaining('must lead to public addresses only') as string,
        ]);
      }
    expect(gpu.received).toHaveLength(before);
  });
});
