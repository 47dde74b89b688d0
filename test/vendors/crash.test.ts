/**
 * The service is killed around the moment when a vendor accepts a job. The vendor never gets a second job.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  fieldsOf,
  startFakeVendor,
  type FakeVendor,
  type Reply,
} from '../../tools/vendors/fakes/fake-vendor.ts';
import { pictureOf } from '../../tools/vendors/fakes/pictures.ts';
import { startChild, type ChildService } from '../workflow/child-service.ts';
import { movementsOf, recordWhen, settled, submit } from '../workflow/creations.ts';
import { enableAll, environmentOf } from '../../tools/vendors/fleet.ts';

interface SlowVendor extends FakeVendor {
  /** How many jobs the vendor has accepted. */
  readonly jobs: () => number;
  /** Whether the vendor leaves an accepted job unanswered, and whether a poll says Ready. */
  readonly mood: { isSilent: boolean; isReady: boolean };
}

/** A fake of Black Forest Labs whose answers a test switches on and off. */
async function startSlowVendor(): Promise<SlowVendor> {
  const mood = { isSilent: false, isReady: false };
  let jobs = 0;
  const vendor = await startFakeVendor(({ path, json }, origin): Reply => {
    if (path.startsWith('/v1/get_result')) {
      const result = mood.isReady ? { sample: `${origin}/sample.png` } : null;
      return { status: 200, body: { id: '1', status: mood.isReady ? 'Ready' : 'Pending', result } };
    }
    if (path === '/sample.png')
      return { status: 200, headers: { 'content-type': 'image/png' }, body: pictureOf('png', 1024, 1024) };
    if (typeof fieldsOf(json)['prompt'] !== 'string') return { status: 422 };
    jobs += 1;
    if (mood.isSilent) return { status: 'hang' };
    return { status: 200, body: { id: '1', polling_url: `${origin}/v1/get_result?id=1` } };
  });
  return { ...vendor, jobs: () => jobs, mood };
}

let folder: string;
const children: ChildService[] = [];
const vendors: FakeVendor[] = [];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'darkroom-vendor-kill-'));
});
afterAll(async () => {
  await Promise.all(children.map((child) => child.kill()));
  await Promise.all(vendors.map((vendor) => vendor.stop()));
  await rm(folder, { recursive: true, force: true });
});

interface Stage {
  readonly vendor: SlowVendor;
  readonly start: () => Promise<ChildService>;
}

async function stage(name: string): Promise<Stage> {
  const vendor = await startSlowVendor();
  vendors.push(vendor);
  const start = async (): Promise<ChildService> => {
    const child = await startChild(join(folder, name), environmentOf([['bfl', vendor]]));
    children.push(child);
    return child;
  };
  return { vendor, start };
}

async function submitTo(child: ChildService): Promise<string> {
  await enableAll(child.operator);
  await child.operator.accounts.change(child.accountId, { providers: ['bfl'] });
  return submit(child, child.key, { model: 'flux-2-pro', output_format: 'png', prompt: 'a harbour' });
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await sleep(20);
}

describe.concurrent('kill -9', () => {
  it('between the acceptance of a job and its answer leads to a refund and to no second job', async () => {
    const { vendor, start } = await stage('unanswered');
    vendor.mood.isSilent = true;
    const before = await start();
    const id = await submitTo(before);
    await until(() => vendor.jobs() === 1);
    await before.kill();

    vendor.mood.isReady = true;
    const after = await start();
    const record = await settled(after, id);
    expect(record).toMatchObject({
      status: 'failed',
      failure: 'InternalFailure',
      attempts: [{ provider: 'bfl' }],
    });
    expect(await movementsOf(after, record)).toEqual(['charge', 'refund']);
    expect(vendor.jobs()).toBe(1);
  });

  it('between the acceptance of a job and its end lets the next start poll the same job and deliver its image', async () => {
    const { vendor, start } = await stage('polled');
    const before = await start();
    const id = await submitTo(before);
    await recordWhen(before, id, ({ attempts }) => attempts[0]?.jobId !== undefined);
    await before.kill();

    vendor.mood.isReady = true;
    const after = await start();
    const record = await settled(after, id);
    expect(record).toMatchObject({
      status: 'completed',
      results: [{ width: 1024, height: 1024, contentType: 'image/png' }],
    });
    expect(await movementsOf(after, record)).toEqual(['charge']);
    expect(vendor.jobs()).toBe(1);
  });
});
