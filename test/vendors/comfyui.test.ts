import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { comfyuiRows } from '../../lab/vendors/fakes/comfyui/rows.ts';
import { fakeComfyuiKey, startFakeComfyui } from '../../lab/vendors/fakes/comfyui/server.ts';
import { fieldsOf, type Reply } from '../../lab/vendors/fakes/fake-vendor.ts';
import { readWorkflow, type Workflow } from '../../service/catalog/comfyui-workflow.ts';
import type { ProviderDefinition } from '../../service/catalog/provider-definition.ts';
import type { RefusalReason } from '../../service/contract/failures.ts';
import { checkComfyui, type ComfyuiServer, createComfyui } from '../../service/vendors/comfyui/provider.ts';
import { checkConfigured, createConfigured } from '../../service/vendors/configured.ts';
import type { ImageProvider, RenderJob } from '../../service/vendors/provider.ts';
import { never, refused, startAnsweringVendor } from './answering-vendor.ts';
import {
  everySize,
  headed,
  headerOf,
  jobsLike,
  lastReceived,
  outcomeOf,
  received,
  talkTo,
} from './vendor-talk.ts';

const example = readWorkflow(readFileSync('client/examples/workflows/comfyui.json', 'utf8'));
const workflows = example.kind === 'read' ? example.workflows : {};
const fake = await startFakeComfyui(headed, fakeComfyuiKey);
const answering = await startAnsweringVendor();
afterAll(() => Promise.all([fake.stop(), answering.stop()]));

const create = (
  settings: Omit<ComfyuiServer, 'workflows' | 'credential' | 'baseUrl'> & { baseUrl?: string },
) => createComfyui({ baseUrl: '', ...settings, workflows, credential: 'key', randomSeed: () => 4_711 });
const { settings, speak, answerTo } = talkTo({ name: 'gpu', create, fake, key: fakeComfyuiKey });
const aJob = jobsLike({ providerModel: 'sdxl', prompt: 'Some secret' });
const inRow = (row: string, change: Partial<RenderJob> = {}): RenderJob =>
  aJob({
    prompt: `Some secret [row:${row}]`,
    sourceCount: comfyuiRows.find((one) => one.row === row)?.sources ?? 0,
    ...change,
  });

describe('Each answer of ComfyUI', () => {
  it.each(comfyuiRows)('The answer "$row" has its outcome: $says', async ({ row, answers }) => {
    const { answer, forgotten } = await speak(inRow(row));
    expect(outcomeOf(answer)).toBe(answers);
    expect(forgotten).toEqual(answers === 'credentials' ? ['gpu'] : []);
    expect(JSON.stringify({ ...answer, bytes: undefined })).not.toMatch(
      /secret|fake-comfyui-key|https?:|a text/,
    );
  });

  it.each([
    ['node-errors', 'HTTP 400 value_not_in_list'],
    ['execution-error', 'HTTP 200 RuntimeError'],
    ['out-of-memory', 'HTTP 200 torch.OutOfMemoryError'],
    ['interrupted', 'HTTP 200 execution_interrupted'],
    ['lost', 'not in the queue'],
    ['text-only', 'HTTP 200 no image'],
    ['picture-gone', 'HTTP 404 view'],
    ['unauthorized', 'HTTP 401'],
  ])('The operator learns of %s by status and code', async (row, detail) => {
    expect(await answerTo(inRow(row))).toMatchObject({ detail });
  });

  it.each<[Reply, RefusalReason, string]>([
    [{ status: 413 }, 'source_image', 'HTTP 413 upload'],
    [{ status: 503 }, 'unavailable', 'HTTP 503 upload'],
    [{ status: 429 }, 'unavailable', 'HTTP 429 upload'],
    [{ status: 401 }, 'credentials', 'HTTP 401'],
    [{ status: 400 }, 'unknown_answer', 'HTTP 400 upload'],
    [{ status: 200, body: { name: 7 } }, 'unknown_answer', 'HTTP 200 upload'],
  ])('An upload that is answered %j is refused as %s without a workflow', async (reply, reason, detail) => {
    const before = fake.jobs();
    fake.answerNext('POST /upload', reply);
    expect(await answerTo(aJob({ sourceCount: 1 }))).toEqual(refused(reason, detail));
    expect(fake.jobs()).toBe(before);
  });

  it('An upload that breaks makes the server unavailable, because nothing is rendered', async () => {
    fake.answerNext('POST /upload', { status: 'break' });
    expect(await answerTo(aJob({ sourceCount: 1 }))).toMatchObject({
      kind: 'refused',
      reason: 'unavailable',
    });
  });

  it.each<[Reply, string]>([
    [{ status: 503 }, 'rendered'],
    [{ status: 'break' }, 'rendered'],
    [{ status: 200, body: { jobs: [] } }, 'unknown_answer'],
  ])('A look at the queue that is answered %j ends in %s', async (reply, expected) => {
    fake.answerNext('GET /queue', reply);
    expect(outcomeOf(await answerTo(aJob()))).toBe(expected);
  });
});

describe('A request to ComfyUI', () => {
  it('The placeholders of the workflow are filled, and the picture comes in the format of the job', async () => {
    const sent = await received(fake, () =>
      speak(aJob({ prompt: 'a "cat"\n{{seed}}', seed: 42, aspectRatio: '16:9', outputFormat: 'webp' })),
    );
    const workflow = fieldsOf(sent[0]?.json)['prompt'] as Workflow;
    expect(sent[0]).toMatchObject({
      method: 'POST',
      path: '/prompt',
      headers: { authorization: `Bearer ${fakeComfyuiKey}` },
    });
    expect(workflow['3']?.inputs).toMatchObject({ seed: 42, steps: 25, model: ['4', 0] });
    expect(workflow['5']?.inputs).toMatchObject({ width: 1360, height: 768 });
    expect(workflow['6']?.inputs).toMatchObject({ text: 'a "cat"\n{{seed}}' });
    expect(sent.slice(1).map(({ method, path }) => `${method} ${path.replace(/0{5,}\d+/g, 'N')}`)).toEqual([
      'GET /history/N-0000-4000-8000-N',
      'GET /queue',
      'GET /history/N-0000-4000-8000-N',
      'GET /queue',
      'GET /history/N-0000-4000-8000-N',
      'GET /view?filename=darkroom_00001_.png&subfolder=N-0000-4000-8000-N&type=output&preview=webp%3B95',
    ]);
  });

  it('A job without a seed gets one, because ComfyUI renders nothing for a workflow that it has just rendered', async () => {
    await answerTo(inRow('full-queue'));
    expect(JSON.stringify(lastReceived(fake).json)).toContain('"seed":4711');
  });

  it('A source image is uploaded once by the name of its bytes, and the workflow reads it', async () => {
    const sent = await received(fake, () => speak(aJob({ sourceCount: 1 })));
    expect(sent[0]).toMatchObject({ method: 'POST', path: '/upload/image' });
    const file = /filename="(darkroom-[0-9a-f]{32}\.png)"/.exec(sent[0]?.body.toString('latin1') ?? '')?.[1];
    const workflow = fieldsOf(sent[1]?.json)['prompt'] as Workflow;
    expect(workflow['10']?.inputs).toEqual({ image: `inputs/${file}` });
  });

  describe('with a mask', () => {
    const mask = { contentType: 'image/png', width: 96, height: 64, bytes: headed('png', 97, 65) };
    const masked = aJob({ sourceCount: 1, readMask: async () => Promise.resolve(mask) });
    const reading: Workflow = {
      ...workflows['sdxl/1'],
      '20': { class_type: 'LoadImage', inputs: { image: '{{mask}}' } },
    };
    const server = { baseUrl: fake.url, credential: 'key', randomSeed: () => 4_711 } as const;
    const withMask = createComfyui({
      ...settings(),
      ...server,
      workflows: { ...workflows, 'sdxl/1/mask': reading },
    });

    it('The mask is uploaded after the source images, for the workflow of its name', async () => {
      const sent = await received(fake, async () => {
        expect(await withMask.submit(masked, never)).toMatchObject({ kind: 'pending' });
      });
      expect(sent.map(({ path }) => path)).toEqual(['/upload/image', '/upload/image', '/prompt']);
      const [source, uploaded] = sent.map(
        ({ body }) => /filename="(darkroom-[0-9a-f]{32}\.png)"/.exec(body.toString('latin1'))?.[1],
      );
      const workflow = fieldsOf(sent[2]?.json)['prompt'] as Workflow;
      expect(workflow['10']?.inputs).toEqual({ image: `inputs/${source}` });
      expect(workflow['20']?.inputs).toEqual({ image: `inputs/${uploaded}` });
      expect(source).not.toBe(uploaded);
    });

    it('Without such a workflow the job is refused before a call, and the adapter says that it sends none', async () => {
      const { 'sdxl/1/mask': _masked, ...others } = workflows;
      const plain = createComfyui({ ...settings(), ...server, workflows: others });
      const sent = await received(fake, async () => {
        expect(await plain.submit(masked, never)).toEqual(
          refused('unknown_answer', 'no workflow for 1 source images and a mask'),
        );
      });
      expect(sent).toEqual([]);
      expect([plain.sends, withMask.sends]).toEqual([['negativePrompt'], ['negativePrompt', 'mask']]);
    });
  });

  it('A number of source images without a workflow is refused before a call', async () => {
    const sent = await received(fake, async () => {
      expect(await answerTo(aJob({ sourceCount: 2 }))).toEqual(
        refused('unknown_answer', 'no workflow for 2 source images'),
      );
    });
    expect(sent).toEqual([]);
  });

  it.each(everySize)('ComfyUI accepts the size for $aspectRatio at $resolution', async (size) => {
    const header = headerOf(await answerTo(aJob({ ...size, outputFormat: 'webp' })));
    expect(Math.max(header?.width ?? 0, header?.height ?? 0)).toBeGreaterThanOrEqual(1024);
  });

  it.each(['png', 'jpeg', 'webp'] as const)('A picture comes as %s', async (outputFormat) => {
    expect(headerOf(await answerTo(aJob({ outputFormat })))?.contentType).toBe(`image/${outputFormat}`);
  });
});

describe('A job that is stopped', () => {
  const begun = async (polls: number): Promise<readonly [ImageProvider, string]> => {
    const provider = create(settings());
    let answer = await provider.submit(aJob(), never);
    for (let poll = 0; poll < polls && answer.kind === 'pending'; poll += 1)
      answer = (await provider.poll?.(answer.jobId, aJob(), never)) ?? answer;
    if (answer.kind !== 'pending') throw new Error(`the job ended: ${answer.kind}`);
    return [provider, answer.jobId];
  };

  it('A job that waits is taken out of the queue, and nothing is interrupted', async () => {
    const [provider, jobId] = await begun(0);
    const sent = await received(fake, async () => {
      expect(await provider.cancel?.(jobId, aJob(), never)).toBe('asked');
    });
    expect(sent.map(({ path }) => path)).toEqual(['/queue', '/queue']);
    expect(await provider.poll?.(jobId, aJob(), never)).toEqual(refused('cancelled', 'not in the queue'));
  });

  it('A job that runs is interrupted by its id', async () => {
    const [provider, jobId] = await begun(2);
    expect(await provider.cancel?.(jobId, aJob(), never)).toBe('asked');
    expect(lastReceived(fake)).toMatchObject({
      path: '/interrupt',
      json: { prompt_id: jobId.split(' ')[1] },
    });
    expect(await provider.poll?.(jobId, aJob(), never)).toMatchObject({ reason: 'cancelled' });
  });

  it('A job that has ended is not interrupted, because an older server would interrupt another', async () => {
    const { waits } = await speak(aJob());
    const id = `${waits.length} 00000000-0000-4000-8000-${String(fake.jobs()).padStart(12, '0')}`;
    const sent = await received(fake, () => Promise.resolve(create(settings()).cancel?.(id, aJob(), never)));
    expect(sent.map(({ path }) => path)).not.toContain('/interrupt');
  });

  it.each<[Reply]>([[{ status: 500 }], [{ status: 401 }]])(
    'A server that answers %j refuses to stop a job',
    async (reply) => {
      answering.answerWith(reply);
      expect(await create(answering.settings).cancel?.('0 job', aJob(), never)).toBe('refused');
    },
  );
});

describe('The id of a job', () => {
  it.each(['../queue', 'a b', '', 7])('The id %j is not taken', async (id) => {
    answering.answerWith({ status: 200, body: { prompt_id: id } });
    expect(await create(answering.settings).submit(aJob(), never)).toEqual(
      refused('unknown_answer', 'HTTP 200'),
    );
  });
});

describe('A server of an operator', () => {
  const definition: ProviderDefinition = {
    name: 'gpu',
    title: 'Own GPU',
    style: 'comfyui',
    baseUrl: fake.url,
    credential: 'key',
    network: 'private',
    imageHosts: [],
    differences: {},
    workflows,
  };
  const { baseUrl: _replaced, ...own } = settings();

  it('A configured server renders on a private network, and is refused on a public one', async () => {
    const provider = createConfigured(definition, own);
    expect(await provider.submit(aJob(), never)).toMatchObject({ kind: 'pending' });
    const guarded = createConfigured({ ...definition, network: 'public' }, own);
    expect(await guarded.submit(aJob(), never)).toEqual(refused('unavailable', 'ADDRESS_REFUSED'));
  });

  it('A server without a key gets no authorization', async () => {
    answering.answerWith({ status: 200, body: { prompt_id: 'job' } });
    const keyless = { ...definition, baseUrl: answering.url, credential: 'none' as const };
    expect(await createConfigured(keyless, own).submit(aJob(), never)).toMatchObject({ kind: 'pending' });
    expect(answering.received.at(-1)?.headers['authorization']).toBeUndefined();
  });

  it.each<[string | undefined, object]>([
    [fakeComfyuiKey, { verdict: 'accepted', detail: 'HTTP 200' }],
    ['another', { verdict: 'refused', detail: 'HTTP 401' }],
    [undefined, { verdict: 'unchecked', detail: 'no credential' }],
  ])('The credential %s is checked by a call that costs nothing', async (credential, expected) => {
    const before = fake.jobs();
    const { baseUrl: _fake, ...checked } = settings({ credential });
    expect(await checkConfigured(definition, checked, never)).toEqual(expected);
    expect(
      await checkComfyui({ ...checked, baseUrl: fake.url, workflows, credential: 'key' }, never),
    ).toEqual(expected);
    expect(fake.jobs()).toBe(before);
  });
});

describe('The fake refuses what ComfyUI would refuse', () => {
  const good = fieldsOf(
    JSON.parse(
      JSON.stringify(workflows['sdxl'])
        .replaceAll('"{{seed}}"', '1')
        .replaceAll(/"\{\{(width|height)\}\}"/g, '1024'),
    ),
  );
  const send = async (prompt: object | undefined): Promise<readonly [number, unknown]> => {
    const response = await fetch(`${fake.url}/prompt`, {
      method: 'POST',
      headers: { authorization: `Bearer ${fakeComfyuiKey}` },
      body: JSON.stringify({ prompt }),
    });
    const { error, node_errors: ofNodes } = fieldsOf(await response.json());
    const [first] = Object.values(fieldsOf(ofNodes));
    const [one] = (fieldsOf(first)['errors'] ?? []) as readonly unknown[];
    return [response.status, fieldsOf(one)['type'] ?? fieldsOf(error)['type']];
  };
  const changed = (id: string, inputs: object): object => ({
    ...good,
    [id]: { ...fieldsOf(good[id]), inputs: { ...fieldsOf(fieldsOf(good[id])['inputs']), ...inputs } },
  });

  it('The fake accepts a whole workflow', async () => expect(await send(good)).toEqual([200, undefined]));

  it.each<[string, object | undefined, string]>([
    ['no workflow', undefined, 'no_prompt'],
    ['a class that it does not have', { '1': { class_type: 'Evil', inputs: {} } }, 'invalid_prompt'],
    ['no output', { '4': good['4'] }, 'prompt_no_outputs'],
    [
      'a missing input',
      { ...good, '9': { class_type: 'SaveImage', inputs: { images: ['8', 0] } } },
      'required_input_missing',
    ],
    ['a file that it does not have', changed('4', { ckpt_name: 'x' }), 'value_not_in_list'],
    ['a place that was not filled', changed('3', { seed: '{{seed}}' }), 'invalid_input_type'],
    ['a seed below zero', changed('3', { seed: -1 }), 'value_smaller_than_min'],
    ['a side that is too long', changed('5', { width: 20_000 }), 'value_bigger_than_max'],
    ['a link to no node', changed('8', { samples: ['99', 0] }), 'invalid_prompt'],
    ['a link that is a text', changed('8', { samples: '3' }), 'bad_linked_input'],
    [
      'an image that was not uploaded',
      { ...good, '10': { class_type: 'LoadImage', inputs: { image: 'x.png' } } },
      'custom_validation_failed',
    ],
  ])('The fake refuses %s', async (_what, prompt, type) => expect(await send(prompt)).toEqual([400, type]));

  it('The fake refuses another key, an unknown path and a file that is no image', async () => {
    const ask = async (to: string, init: RequestInit = {}): Promise<number> =>
      (await fetch(`${fake.url}${to}`, { headers: { authorization: `Bearer ${fakeComfyuiKey}` }, ...init }))
        .status;
    expect(await ask('/queue', { headers: {} })).toBe(401);
    expect(await ask('/jobs')).toBe(404);
    expect(await ask('/view?filename=other.png&subfolder=x')).toBe(404);
    const body = new FormData();
    body.append('image', new Blob(['text'], { type: 'image/png' }), 'a.png');
    expect(await ask('/upload/image', { method: 'POST', body })).toBe(400);
  });

  it('The history of an unknown job is empty', async () => {
    const response = await fetch(`${fake.url}/history/none`, {
      headers: { authorization: `Bearer ${fakeComfyuiKey}` },
    });
    expect(await response.json()).toEqual({});
  });
});
