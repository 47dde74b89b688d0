/** The commands `providers pause` and `resume` against the whole service, with two vendors and the sandbox. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { fakes } from '../../lab/vendors/fakes/all-fakes.ts';
import { startFakeVendor, type FakeVendor } from '../../lab/vendors/fakes/fake-vendor.ts';
import { enableAll, environmentOf } from '../../lab/vendors/fleet.ts';
import { startTestService, type Client, type TestService } from '../fixtures/service.ts';
import { movementsOf, recordOf, settled, submit } from '../whole/workflow/creations.ts';
import { admin, adminJson, refusal } from './admin-run.ts';

let bfl: FakeVendor;
let fal: FakeVendor;
let service: TestService;
let client: Client;
/** Whether the job at Black Forest Labs has failed. Until then it is at work. */
let isOver = false;
const run = async (...args: readonly string[]) => adminJson(service.folder, 'providers', ...args);
const rowOf = async (name: string): Promise<unknown> =>
  ((await run('list'))['data'] as readonly { provider: string }[]).find(({ provider }) => provider === name);
const order = { model: 'flux-2-pro', prompt: 'a lake' };
const generate = async (model: string) =>
  service.send('/images/generate', { key: client.key, body: { model, prompt: 'a lake' } });

beforeAll(async () => {
  bfl = await startFakeVendor(({ path }, origin) => ({
    status: 200,
    body: path.startsWith('/v1/get_result')
      ? { id: 'job', status: isOver ? 'Request Moderated' : 'Pending', result: null }
      : { id: 'job', polling_url: `${origin}/v1/get_result?id=job` },
  }));
  fal = await fakes.fal.start();
  service = await startTestService({
    environment: environmentOf([
      ['bfl', bfl],
      ['fal', fal],
    ]),
  });
  await enableAll(service.operator);
  client = await service.client();
  await service.operator.accounts.change(client.account.id, { providers: ['bfl', 'fal', 'sandbox'] });
});
afterEach(async () => {
  for (const name of ['bfl', 'fal', 'sandbox']) await service.operator.providers.resume(name);
});
afterAll(async () => {
  await service.end();
  await Promise.all([bfl.stop(), fal.stop()]);
});

describe('providers pause', () => {
  it('Routes go round a paused provider, and a resumed provider is asked first again', async () => {
    await run('pause', 'bfl');
    const ordered = async () => settled(service, await submit(service, client.key, order));
    const round = await ordered();
    expect(round.attempts.map(({ provider }) => provider)).toEqual(['fal']);
    await run('resume', 'bfl');
    isOver = true;
    const first = await ordered();
    expect(first.attempts[0]).toMatchObject({ provider: 'bfl' });
  });

  it('A model whose only provider is paused answers as if no provider were enabled', async () => {
    const { status } = await generate('sandbox-sketch');
    expect(status).toBe(202);
    await run('pause', 'sandbox');
    expect(await generate('sandbox-sketch')).toMatchObject({
      status: 503,
      body: { error: { code: 'ERR_PROVIDER_UNAVAILABLE' } },
    });
    const { data } = (await service.send('/models', { key: client.key })).body as {
      data: readonly Record<string, unknown>[];
    };
    expect(data.find(({ id }) => id === 'sandbox-sketch')).toMatchObject({
      available: false,
      unavailable_reason: 'no_provider_enabled',
    });
  });

  it('A job that the vendor has accepted is asked about until its end', async () => {
    isOver = false;
    const id = await submit(service, client.key, order);
    await expect.poll(async () => (await recordOf(service, id)).attempts[0]?.jobId).toBeDefined();
    await run('pause', 'bfl');
    isOver = true;
    const record = await settled(service, id);
    expect(record).toMatchObject({ failure: 'PromptRejected', attempts: [{ provider: 'bfl' }] });
    expect(record.attempts).toHaveLength(1);
  });

  it('A creation that waits for its start fails and is refunded when its only provider was paused', async () => {
    service.machine.faults.set({ call: 'states:StartExecution', error: 'Throttling', every: 1 });
    const id = await submit(service, client.key, { model: 'sandbox-sketch', prompt: 'a lake' });
    await run('pause', 'sandbox');
    service.machine.faults.clear();
    await service.machine.advance(120);
    const record = await settled(service, id);
    expect([record.status, record.failure, record.attempts]).toEqual(['failed', 'ServiceUnavailable', []]);
    expect(await movementsOf(service, record)).toEqual(['charge', 'refund']);
  });

  it('The list shows since when and why, a second pause changes the reason alone, and a new key does not resume', async () => {
    const fal = { provider: 'fal', paused: true };
    const paused = await run('pause', 'fal', '--reason', 'status page says: down');
    const { paused_since } = paused;
    expect(paused).toEqual({ ...fal, paused_since, pause_reason: 'status page says: down' });
    await run('pause', 'fal', '--reason', 'still down');
    await service.operator.providers.enable('fal');
    expect(await rowOf('fal')).toMatchObject({ enabled: 'yes', paused_since, pause_reason: 'still down' });
    const none = { paused_since: null, pause_reason: null };
    expect(await run('resume', 'fal')).toEqual({ ...fal, paused: false, ...none });
    expect(await rowOf('fal')).toMatchObject({ enabled: 'yes', ...none });
    expect((await admin(service.folder, 'providers', 'resume', 'fal')).out).toContain(
      'The provider fal was not paused.',
    );
  });

  it('A pause of one route leaves the provider its others, and `health` shows the pause', async () => {
    const route = ['sandbox', '--model', 'sketch'] as const;
    expect(await run('pause', ...route)).toMatchObject({
      provider: 'sandbox',
      model: 'sketch',
      paused: true,
    });
    expect((await generate('sandbox-sketch')).status).toBe(503);
    expect((await generate('sandbox-standard')).status).toBe(202);
    const { data } = await run('health');
    const shown = (data as readonly Record<string, unknown>[]).find(({ model }) => model === 'sketch');
    expect(shown?.['paused_since']).toEqual(expect.stringMatching(/^\d{4}-/));
    expect(await run('resume', ...route)).toMatchObject({ model: 'sketch', paused: false });
    expect((await generate('sandbox-sketch')).status).toBe(202);
  });

  it.each([
    [
      ['pause', 'sandbox', '--model', 'absent'],
      'sandbox has no such route: its models are sketch, standard, pro.',
    ],
    [['pause', 'sandbox', '--quality', 'high'], '--quality: name the model of the route as well.'],
    [['pause', 'nobody'], 'There is no provider "nobody": known are sandbox, sandbox-large, bedrock, openai'],
    [['resume', 'nobody'], 'There is no provider "nobody"'],
    [['pause', 'fal', '--reason', ' '], '--reason: must not be empty.'],
  ])('%j is refused with one sentence', async (args, message) => {
    expect(await refusal(service.folder, 'providers', ...args)).toContain(message);
  });
});
