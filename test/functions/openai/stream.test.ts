import type { Context } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import { now } from '../../fixtures/records.ts';
import { inOpenaiForm } from '../../../functions/openai/http/serve-openai.ts';
import { base64Of, completing, failing, pictureAt, scene, type Course } from './images-fixture.ts';

const body = { model: 'sandbox-standard', prompt: 'a quiet lake', stream: true };
const keepAlive = ': keep-alive';

/** The blocks of the stream: comments as they are, events as their name and their data. */
const blocksOf = (text: string): unknown[] =>
  text
    .split('\n\n')
    .filter((block) => block !== '')
    .map((block) => {
      const [, event, data] = /^event: (.*)\ndata: (.*)$/.exec(block) ?? [];
      return event === undefined ? block : [event, JSON.parse(data ?? '')];
    });
const eventsOf = (text: string): unknown[] => blocksOf(text).filter((block) => block !== keepAlive);
const pictureEvent = (place: number): unknown[] => [
  'image_generation.completed',
  {
    type: 'image_generation.completed',
    b64_json: base64Of(pictureAt(place).key),
    created_at: now / 1_000 + 2,
    output_format: 'png',
    size: '1024x1024',
    quality: 'medium',
    background: 'opaque',
    usage: {
      input_tokens: 0,
      input_tokens_details: { image_tokens: 0, text_tokens: 0 },
      output_tokens: 0,
      total_tokens: 0,
    },
  },
];

describe('a request with stream', () => {
  it('The stream begins with a comment, and has one event for each picture', async () => {
    const { generate, stage } = scene();
    const answer = await generate({ ...body, n: 2, partial_images: 2 });
    expect(answer).toMatchObject({
      status: 200,
      headers: {
        'content-type': 'text/event-stream',
        'x-darkroom-creation-id': stage.started.join(','),
        'x-darkroom-cost': '0.08',
      },
    });
    expect(blocksOf(answer.text)).toEqual([keepAlive, pictureEvent(0), pictureEvent(1)]);
    expect(answer.headers['x-darkroom-ignored']).toBeUndefined();
  });

  it('A picture is sent as soon as it is there', async () => {
    const oneLater: Course = (charged, place, since) =>
      place === 0 && since < 60_000 ? { status: 'processing' } : completing(charged, place, since);
    const blocks = blocksOf((await scene(oneLater).generate({ ...body, n: 2 })).text);
    expect(blocks.slice(0, 3)).toEqual([keepAlive, pictureEvent(1), keepAlive]);
    expect(blocks.at(-1)).toEqual(pictureEvent(0));
  });

  it('The stream is never silent for more than 15 s', async () => {
    const { generate, partsAt } = scene(() => ({ status: 'processing' }));
    // The limit of a library ends with the head, which is out.
    await generate(body, { 'x-stainless-timeout': '20' });
    const silences = partsAt.slice(1).map((at, index) => at - (partsAt[index] ?? 0));
    expect(partsAt.at(-1)).toBe(now + 285_000);
    expect(Math.max(...silences)).toBeLessThanOrEqual(15_000);
    // A comment costs something, too.
    expect(silences.length).toBeLessThan(25);
  });

  it('A request that takes too long ends with an error that names the creations', async () => {
    const { generate, stage } = scene(() => ({ status: 'processing' }));
    const events = eventsOf((await generate(body)).text);
    expect(events).toMatchObject([
      [
        'error',
        {
          error: { type: 'server_error', code: 'still_rendering', details: { creation_ids: stage.started } },
        },
      ],
    ]);
  });

  it('When all creations have failed, the stream ends with the first failure', async () => {
    const answer = await scene(failing('PromptRejected')).generate({ ...body, n: 2 });
    expect(answer.status).toBe(200);
    expect(eventsOf(answer.text)).toMatchObject([
      [
        'error',
        { error: { type: 'invalid_request_error', code: 'content_policy_violation', param: 'prompt' } },
      ],
    ]);
  });

  it('When one of two has failed, the stream has the other one and no error', async () => {
    const oneFails: Course = (...given) =>
      given[1] === 0 ? failing('GenerationFailed')(...given) : completing(...given);
    expect(eventsOf((await scene(oneFails).generate({ ...body, n: 2 })).text)).toEqual([pictureEvent(1)]);
  });

  it('A picture that cannot be read is an error event', async () => {
    const get = async (): Promise<never> => Promise.reject(new Error('gone'));
    const answer = await scene(completing, { images: { get } }).generate(body);
    expect(eventsOf(answer.text)).toMatchObject([['error', { error: { code: 'internal_error' } }]]);
  });

  it('A refusal before the charge has a status of its own, and is no stream', async () => {
    expect(await scene().generate({ ...body, n: 9 })).toMatchObject({
      status: 400,
      headers: { 'content-type': 'application/json' },
    });
  });

  it('A client that is gone ends the waiting', async () => {
    const { stage } = scene();
    let isEnded = false;
    const handler = inOpenaiForm(
      async () =>
        Promise.resolve({
          status: 200,
          headers: {},
          body: (async function* () {
            try {
              for (;;) yield await Promise.resolve('part');
            } finally {
              isEnded = true;
            }
          })(),
        }),
      stage.open,
    );
    const { restEvent } = await import('./openai-fixture.ts');
    const { body: parts } = await handler(restEvent(), {} as Context);
    for await (const part of parts) if (part === 'part') break;
    expect(isEnded).toBe(true);
  });
});
