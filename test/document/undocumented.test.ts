/** The check of answers and deliveries: each kind of difference from the document is found, and no other. */
import { describe, expect, it } from 'vitest';
import {
  type Exchange,
  undocumented,
  undocumentedDelivery,
} from '../../service/document/check/undocumented.ts';
import examples from '../../service/document/examples.json' with { type: 'json' };
import { webhookBody, webhookHeaders } from '../../service/webhooks/webhook.ts';
import { aCompletedCreation } from '../fixtures/records.ts';

const rate = { 'ratelimit-policy': '"get";q=600;w=60', ratelimit: '"get";r=599;t=3' };

interface Sketch {
  readonly method?: string;
  readonly path?: string;
  readonly status?: number;
  /** null removes the header. */
  readonly headers?: Readonly<Record<string, string | null>>;
  readonly body?: unknown;
}

/** GET /balance as documented, with what the sketch changes. */
function exchange({ method = 'GET', path = '/balance', status = 200, headers = {}, body }: Sketch): Exchange {
  const all: Record<string, string | null> = {
    'content-type': 'application/json',
    'x-request-id': 'a',
    ...rate,
    ...headers,
  };
  return {
    method,
    path: `/api/public/v1${path}`,
    status,
    headers: Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== null),
    text: typeof body === 'string' ? body : JSON.stringify(body ?? examples.balance),
  };
}

const notFound = { error: { code: 'ERR_NOT_FOUND', message: 'Nothing.', details: {} } };
const late = { error: { code: 'ERR_RATE_LIMIT', message: 'Slow.', details: { reason: 'burst_block' } } };
const unknownAccount = { 'ratelimit-policy': null, ratelimit: null };

describe('an answer', () => {
  it.each<[string, Sketch]>([
    ['a success', {}],
    ['a success with a query', { path: '/balance?user=a' }],
    ['a refusal of the operation', { path: '/creations/abc', status: 404, body: notFound }],
    [
      'a refusal of an account that is not known yet',
      {
        status: 429,
        headers: { ...unknownAccount, 'retry-after': '3' },
        body: late,
      },
    ],
    [
      'an answer of API Gateway',
      {
        status: 503,
        headers: { ...unknownAccount, 'x-request-id': null },
        body: { message: 'Service Unavailable' },
      },
    ],
    ['an unknown path', { path: '/nothing', status: 404, body: notFound }],
    ['an unknown method', { method: 'POST', status: 404, headers: { allow: 'GET' }, body: notFound }],
    ['an answer to HEAD', { method: 'HEAD', status: 404, headers: { allow: 'GET' }, body: '' }],
  ])('It is as documented: %s', (_what, sketch) => {
    expect(undocumented(exchange(sketch))).toEqual([]);
  });

  it.each<[string, Sketch, string]>([
    ['an undocumented status', { status: 418 }, 'is no documented status'],
    ['a success of an unknown path', { path: '/nothing' }, 'is no documented status'],
    ['a refusal of another operation', { status: 404, body: notFound }, 'is no documented status'],
    ['a header that is not documented', { headers: { 'x-cache': 'a' } }, 'x-cache is not documented'],
    ['a header of another operation', { headers: { 'x-darkroom-cost': '1' } }, 'cost is not documented'],
    ['a missing header', { headers: { ratelimit: null } }, 'ratelimit is missing'],
    ['a header of another form', { headers: { ratelimit: '599' } }, 'ratelimit is not as documented (599)'],
    ['a 429 without Retry-After', { status: 429, body: late }, 'retry-after is missing'],
    ['a Retry-After of 0', { status: 429, headers: { 'retry-after': '0' }, body: late }, '(0)'],
    [
      'a refusal without a request id',
      {
        status: 429,
        headers: { 'retry-after': '3', 'x-request-id': null },
        body: late,
      },
      'x-request-id is missing',
    ],
    ['a member that is not documented', { body: { ...examples.balance, debt: 1 } }, '(debt)'],
    ['a missing member', { body: { ...examples.balance, balance: undefined } }, "property 'balance'"],
    [
      'a member of another type',
      { body: { ...examples.balance, balance: '1' } },
      'body/balance must be number',
    ],
    [
      'a member deep inside',
      {
        body: { ...examples.balance, key: { ...examples.balance.key, hash: 'a' } },
      },
      'body/key must NOT have additional properties (hash)',
    ],
    [
      'another code',
      {
        path: '/creations/abc',
        status: 404,
        body: { error: { ...notFound.error, code: 'ERR_MODEL_NOT_FOUND' } },
      },
      'body/error/code must be equal to constant (ERR_NOT_FOUND)',
    ],
    [
      'another reason',
      {
        status: 429,
        headers: { 'retry-after': '3' },
        body: { error: { ...late.error, details: { reason: 'mood' } } },
      },
      'body/error/details/reason',
    ],
    [
      'a completed creation without its images',
      {
        path: '/creations/abc',
        headers: {},
        body: { ...examples.accepted, status: 'completed' },
      },
      "property 'result_urls'",
    ],
    ['a body that is not JSON', { body: '<html>' }, 'the body is not JSON'],
    [
      'the plain form where the envelope is set',
      { status: 401, body: { detail: 'api_key_invalid' } },
      "'error'",
    ],
  ])('It is not as documented: %s', (_what, sketch, finding) => {
    expect(undocumented(exchange(sketch)).join('\n')).toContain(finding);
  });

  it('A deployment with the plain form answers 401 and 403 in it', () => {
    const answer = exchange({ status: 401, body: { detail: 'api_key_invalid' } });
    expect(undocumented(answer, 'plain')).toEqual([]);
    expect(undocumented(exchange({ status: 401, body: examples['key-missing'] }), 'plain')).not.toEqual([]);
  });
});

describe('a delivery', () => {
  const body = webhookBody(aCompletedCreation(), ['https://images.test/a.png']);
  const secret = `whsec_${Buffer.alloc(32).toString('base64')}`;
  const attempt = {
    event: 'creation.completed',
    messageId: 'a:creation.completed',
    deliveryId: '01a1fea2-8a77-7365-8810-1df36c967851',
    attempt: 1,
    signedAtSeconds: 1,
    body,
  };
  const headers = webhookHeaders(attempt, {
    current: secret,
    previous: secret,
    valid: [secret, secret],
    lost: [],
  });
  const { 'webhook-id': _id, ...unnamed } = headers;

  it('A webhook as the service makes it is as documented', () => {
    expect(undocumentedDelivery({ headers: { ...headers, host: 'a.test' }, body })).toEqual([]);
  });

  it.each<[string, Readonly<Record<string, string>>, string, string]>([
    ['of an unknown kind', { ...headers, 'x-webhook-event': 'creation.started' }, body, 'is not documented'],
    ['with a header that is not documented', { ...headers, 'x-attempt': '1' }, body, 'x-attempt is not'],
    ['without a header', unnamed, body, 'webhook-id is missing'],
    ['with a sixth attempt', { ...headers, 'x-webhook-attempt': '6' }, body, 'X-Webhook-Attempt'],
    ['with a member that is not documented', headers, body.replace('"cost"', '"price"'), '(price)'],
  ])('A webhook %s is not as documented', (_what, sent, text, finding) => {
    expect(undocumentedDelivery({ headers: sent, body: text }).join('\n')).toContain(finding);
  });
});
