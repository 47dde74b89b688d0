import { describe, expect, it } from 'vitest';
import { openaiModels } from '../../service/openai/models.ts';
import type { OpenaiModelServices } from '../../service/openai/open.ts';
import { asMicros } from '../../service/values/money.ts';
import { accepting, type Stage, type StageServices } from '../api/serve-fixture.ts';
import { catalogOf } from '../catalog/catalog-fixture.ts';
import { namedRequest } from '../fixtures/records.ts';
import { ask, type OpenaiAnswer, type OpenaiSending } from './openai-fixture.ts';

type Services = OpenaiModelServices & StageServices;
const aliases = { 'gpt-image-1': 'sandbox-standard' };
const models = async (sending: OpenaiSending = {}, stage?: Stage): Promise<OpenaiAnswer> =>
  ask<Services>(openaiModels, sending, stage, { aliases });
const ids = ({ body }: OpenaiAnswer): unknown[] => (body['data'] as { id: unknown }[]).map(({ id }) => id);

const sandboxes = ['sandbox-sketch', 'sandbox-standard', 'sandbox-pro', 'sandbox-panorama'];

describe('GET /models', () => {
  it('The list has the models that a provider renders for the account, in the form of the OpenAI API', async () => {
    const answer = await models();
    expect(answer).toMatchObject({
      status: 200,
      headers: {
        'content-type': 'application/json',
        'x-request-id': namedRequest,
        'cache-control': 'no-store',
        'ratelimit-policy': '"get";q=600;w=60',
      },
      body: { object: 'list' },
    });
    expect(ids(answer)).toEqual(sandboxes);
    expect((answer.body['data'] as unknown[])[1]).toEqual({
      id: 'sandbox-standard',
      object: 'model',
      created: 1_790_000_000,
      owned_by: 'darkroom',
    });
    expect(answer.headers['x-should-retry']).toBeUndefined();
  });

  it.each<[string, Parameters<typeof accepting>[0], string[]]>([
    [
      'the account does not see',
      { account: { policy: { providers: 'all', hiddenModels: ['sandbox-pro'] } } },
      ['sandbox-sketch', 'sandbox-standard', 'sandbox-panorama'],
    ],
    ['the key may not order', { apiKey: { models: ['sandbox-sketch'] } }, ['sandbox-sketch']],
    [
      'is past its sunset',
      { services: catalogOf({ deprecated_at: '2026-01-01', sunset_at: '2026-11-21' }, { id: 'other' }) },
      ['other'],
    ],
  ])('The list leaves out a model that %s', async (_why, setting, left) => {
    expect(ids(await models({}, accepting(setting)))).toEqual(left);
  });

  it('A query parameter that nobody knows is ignored', async () => {
    expect(await models({ query: { 'api-version': '2026-01-01' } })).toMatchObject({ status: 200 });
  });

  it('The request counts in the rate of GET requests, and notes the use of the key', async () => {
    const stage = accepting({});
    await models({}, stage);
    expect(stage.counted).toBe(1);
    expect(stage.keyUses).toHaveLength(1);
  });
});

describe('GET /models/{id}', () => {
  const one = async (pathId: string, stage?: Stage): Promise<OpenaiAnswer> =>
    models({ path: `/models/${pathId}`, pathId }, stage);

  it('A model is shown under its id, and an alias shows the model that stands in for it', async () => {
    const standard = { id: 'sandbox-standard', object: 'model', owned_by: 'darkroom' };
    expect(await one('sandbox-standard')).toMatchObject({ status: 200, body: standard });
    expect(await one('gpt-image-1')).toMatchObject({ status: 200, body: standard });
  });

  it('A model that the key may not order is 404, as one that does not exist', async () => {
    const stage = accepting({ apiKey: { models: ['sandbox-sketch'] } });
    for (const id of ['sandbox-standard', 'dall-e-2', 'constructor']) {
      expect(await one(id, stage)).toMatchObject({
        status: 404,
        headers: { 'x-should-retry': 'false' },
        body: { error: { type: 'invalid_request_error', code: 'model_not_found', param: 'model' } },
      });
    }
  });
});

describe('what no operation takes', () => {
  it('An unknown path is 404, and the message names the root of the endpoint', async () => {
    expect(await models({ method: 'POST', path: '/chat/completions', body: '{}' })).toMatchObject({
      status: 404,
      headers: { 'x-should-retry': 'false' },
      body: {
        error: {
          message: "There is nothing at /openai/v1/chat/completions. The API's root is /openai/v1.",
          code: 'not_found',
          param: null,
        },
      },
    });
  });

  it('A path with another method is 404 and says which method it takes', async () => {
    const answer = await models({ path: '/images/generations' });
    expect(answer).toMatchObject({ status: 404, headers: { allow: 'POST' } });
  });
});

describe('the frame', () => {
  it('A request without a key is 401 with WWW-Authenticate, and its rejection is counted', async () => {
    const stage = accepting({});
    expect(await models({ headers: { Authorization: '' } }, stage)).toMatchObject({
      status: 401,
      headers: { 'www-authenticate': 'Bearer', 'x-should-retry': 'false' },
      body: { error: { type: 'invalid_request_error', code: 'invalid_api_key', param: null } },
    });
    expect(stage.rejections).toHaveLength(1);
  });

  it('An unexpected error is 500 with an alarm, and its message stays in the service', async () => {
    const stage = accepting({});
    const broken = async (): Promise<never> => Promise.reject(new Error('a secret'));
    const answer = await ask<StageServices>(broken, {}, stage);
    expect(answer).toMatchObject({
      status: 500,
      headers: { 'x-should-retry': 'true', 'x-request-id': namedRequest },
      body: { error: { type: 'server_error', code: 'internal_error' } },
    });
    expect(answer.text).not.toContain('a secret');
    expect(stage.log.lines).toEqual(['alarm request_failed']);
  });

  it('The time of the request ends with the last part of the body, and not before', async () => {
    const signals: boolean[] = [];
    await ask<StageServices>(async (_request, _caller, { budget }) =>
      Promise.resolve({
        status: 200,
        headers: {},
        body: (async function* () {
          signals.push(budget.signal.aborted);
          yield await Promise.resolve('{}');
          signals.push(budget.signal.aborted);
          budget.signal.addEventListener('abort', () => signals.push(true));
        })(),
      }),
    );
    expect(signals).toEqual([false, false, true]);
  });
});

describe('money that the models do not need', () => {
  it('An empty wallet does not hide the models', async () => {
    expect(await models({}, accepting({ account: { availableMicros: asMicros(0) } }))).toMatchObject({
      status: 200,
    });
  });
});
