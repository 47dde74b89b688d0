/** An own GPU behind ComfyUI, added by the three commands of docs/providers.md. The tests follow each other. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FakeComfyui, startFakeComfyui } from '../../../lab/vendors/fakes/comfyui/server.ts';
import { fieldsOf, pictureOf } from '../../../lab/vendors/fakes/fake-vendor.ts';
import type { CreationRecord } from '../../../service/creations/creation.ts';
import type { CreationId } from '../../../service/values/ids.ts';
import { adminJson } from '../../admin/admin-run.ts';
import { type Client, startTestService, type TestService } from '../../fixtures/service.ts';
import { answering, type ImageOrigin, startImageOrigin } from '../../whole/image-origin.ts';
import { recordWhen, submit } from '../../whole/workflow/creations.ts';
import { commandsOfThePage } from './page-commands.ts';

let comfyui: FakeComfyui;
let origin: ImageOrigin;
let service: TestService;
let client: Client;
beforeAll(async () => {
  [comfyui, origin, service] = await Promise.all([
    startFakeComfyui(),
    startImageOrigin(),
    startTestService(),
  ]);
  client = await service.client({ balance: '10' });
});
afterAll(async () => {
  await service.end();
  await Promise.all([comfyui.stop(), origin.close()]);
});

const order = async (body: object): Promise<CreationId> =>
  (await submit(service, client.key, { model: 'sdxl', ...body })) as CreationId;
const ended = async (id: CreationId): Promise<CreationRecord> => (await service.ended(id)) as CreationRecord;
const balance = async (): Promise<number> => (await service.account(client.account.id)).availableMicros;
/** The inputs of all nodes of the workflow that the server got last. */
const lastWorkflow = (): Record<string, unknown>[] =>
  Object.values(
    fieldsOf(fieldsOf(comfyui.received.findLast(({ path }) => path === '/prompt')?.json)['prompt']),
  ).map((node) => fieldsOf(fieldsOf(node)['inputs']));

describe('An own GPU behind ComfyUI', () => {
  it('renders its first picture after three commands, by the workflow of the file, at its price', async () => {
    const commands = commandsOfThePage('providers add comfyui', 'http://10.0.0.6:8188', comfyui.url);
    expect(commands).toHaveLength(3);
    const said = [];
    for (const command of commands) said.push(await adminJson(service.folder, ...command));
    expect(said).toMatchObject([
      { provider: 'comfyui', enabled: true, replaced: false },
      { data: [{ provider: 'comfyui', verdict: 'accepted' }] },
      { data: [{ model: 'sdxl', change: 'added', prices: ['1K 0.02'] }] },
    ]);
    const creation = await ended(await order({ prompt: 'a "lake" {{seed}}', seed: 7, aspect_ratio: '16:9' }));
    expect(creation).toMatchObject({
      status: 'completed',
      costMicros: 20_000,
      results: [{ contentType: 'image/png' }],
      attempts: [{ provider: 'comfyui', outcome: 'rendered', providerCostMicros: 5_000 }],
    });
    const nodes = lastWorkflow();
    const [width, height] = [creation.results[0]?.width, creation.results[0]?.height];
    expect(nodes).toContainEqual(expect.objectContaining({ text: 'a "lake" {{seed}}' }));
    expect(nodes).toContainEqual(expect.objectContaining({ seed: 7, steps: 25 }));
    expect(nodes).toContainEqual(expect.objectContaining({ width, height, batch_size: 1 }));
  });

  it('renders from a source image by the workflow for one source image', async () => {
    const source = origin.at('/source.png', answering(200, pictureOf('png', 512, 512)));
    const creation = await ended(await order({ prompt: 'the same lake at night', image_urls: [source] }));
    expect(creation).toMatchObject({ status: 'completed', costMicros: 20_000 });
    expect(lastWorkflow()).toContainEqual(
      expect.objectContaining({ image: expect.stringMatching(/^inputs\//) as unknown }),
    );
  });

  it('refunds in full what the GPU has no memory for', async () => {
    const before = await balance();
    const creation = await ended(await order({ prompt: 'a lake [row:out-of-memory]' }));
    expect(creation).toMatchObject({
      status: 'failed',
      failure: 'ServiceUnavailable',
      refundedMicros: 20_000,
    });
    expect(await balance()).toBe(before);
  });

  it('takes a cancelled job out of its queue, and the client gets the money back', async () => {
    const before = await balance();
    const id = await order({ prompt: 'a lake' });
    const { attempts } = await recordWhen(service, id, (record) => record.attempts[0]?.jobId !== undefined);
    await service.send(`/creations/${id}/cancel`, { key: client.key, method: 'POST' });
    expect(await ended(id)).toMatchObject({
      status: 'failed',
      refundedMicros: 20_000,
      attempts: [{ provider: 'comfyui', outcome: 'cancelled' }],
    });
    const removed = comfyui.received.map(({ json }) => fieldsOf(json)['delete']).filter(Array.isArray);
    expect(removed.map(([id]: unknown[]) => attempts[0]?.jobId?.includes(String(id)))).toEqual([true]);
    expect(await balance()).toBe(before);
  });
});
