import { BatchGetCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import { asMicros } from '../../core/money.ts';
import { dynamo, keysUpdated, tableHolds } from './api-fixture.ts';
import { body, mockAcceptingAws, submit, transactions } from './generate-image-fixture.ts';

mockAcceptingAws();

describe('a refused POST /images/generate', () => {
  it.each<[string, object, Parameters<typeof tableHolds>[0], number, object]>([
    ['an unknown model', { ...body, model: 'sandbox-none' }, {}, 404, { code: 'ERR_MODEL_NOT_FOUND' }],
    [
      'a hidden model',
      body,
      { account: { policy: { providers: 'all', hiddenModels: ['sandbox-standard'] } } },
      404,
      { code: 'ERR_MODEL_NOT_FOUND' },
    ],
    [
      'a size that no route renders',
      { ...body, resolution: '4K' },
      {},
      400,
      { details: { reason: 'provider_policy_no_route' } },
    ],
    [
      'no provider',
      body,
      { account: { policy: { providers: [], hiddenModels: [] } } },
      503,
      { code: 'ERR_PROVIDER_UNAVAILABLE', details: { reason: 'no_provider_enabled' } },
    ],
    [
      'a webhook to a private address',
      { ...body, webhook_url: 'https://10.0.0.7/' },
      {},
      400,
      { details: { errors: [{ field: 'webhook_url', code: 'refused_target' }] } },
    ],
    [
      'a webhook over http',
      { ...body, webhook_url: 'http://1.1.1.1/' },
      {},
      400,
      { details: { errors: [{ field: 'webhook_url' }] } },
    ],
    [
      'too little money',
      body,
      { account: { availableMicros: asMicros(0) } },
      402,
      { code: 'ERR_INSUFFICIENT_BALANCE' },
    ],
    [
      'an account that is full',
      body,
      { account: { inFlight: 20 } },
      429,
      { code: 'ERR_QUOTA_EXCEEDED', details: { scope: 'account' } },
    ],
    [
      'a service that is full',
      body,
      { others: [{ pk: 'SERVICE', sk: 'SERVICE', openCreations: 2_000 }] },
      429,
      { code: 'ERR_QUOTA_EXCEEDED', details: { scope: 'service', reason: 'capacity', limit: 2_000 } },
    ],
    [
      'a budget that is used up',
      body,
      { apiKey: { monthlyCapMicros: asMicros(39_999) } },
      402,
      { details: { reason: 'monthly_budget_exceeded' } },
    ],
  ])(
    'A refusal because of %s costs nothing but a place in the rate',
    async (_what, sent, stored, status, error) => {
      tableHolds(stored);
      expect(await submit({ body: sent })).toMatchObject({ status, body: { error } });
      expect(transactions()).toEqual([]);
      expect(dynamo.commandCalls(BatchGetCommand)).toHaveLength(1);
      expect(keysUpdated()).toEqual([expect.stringContaining('RATE#POST#')]);
    },
  );

  it.each<[string, unknown, Record<string, string>, string, string]>([
    ['text that is no JSON', '{"model":', {}, 'body', 'invalid_json'],
    ['a JSON array', [], {}, 'body', 'invalid_type'],
    ['JSON null', 'null', {}, 'body', 'invalid_type'],
    ['another content type', body, { 'content-type': 'text/plain' }, 'Content-Type', 'invalid_value'],
    ['more than 256 KiB', { ...body, prompt: 'x'.repeat(262_145) }, {}, 'body', 'too_long'],
    ['no prompt', { model: 'sandbox-standard' }, {}, 'prompt', 'required'],
  ])('A refusal because of %s names the field', async (_what, sent, headers, field, code) => {
    const answer = await submit({ body: sent, headers });
    expect(answer).toMatchObject({
      status: 400,
      body: { error: { code: 'ERR_INVALID_REQUEST', details: { errors: [{ field, code }] } } },
    });
    expect(transactions()).toEqual([]);
  });
});
