/** The table of error codes (docs/api.md): a request gets each code, with its status and in the envelope. */
import { readdir, readFile } from 'node:fs/promises';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { type ProblemCode, problemStatus } from '../../service/values/problem.ts';
import { type Answer, sharedTestService } from '../fixtures/service.ts';
import { everyAnswer, breaking, isMadeByGateway, rules } from './every-answer.ts';
import { inTime } from './workflow/creations.ts';
import { refusalOf } from './refusal.ts';

const service = await sharedTestService();
afterAll(() => service.end());
afterEach(() => service.machine.faults.clear());

const body = { model: 'sandbox-sketch', prompt: 'a mill' };
const submit = (
  key: string,
  change: object = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> => service.send('/images/generate', { key, body: { ...body, ...change }, headers });

/** This code is reserved and never returned: a prompt that the safety filter rejects fails the creation. */
type Reserved = 'ERR_CONTENT_POLICY';

const provoke: Readonly<Record<Exclude<ProblemCode, Reserved>, () => Promise<Answer>>> = {
  ERR_INVALID_REQUEST: async () => submit((await service.client()).key, { seed: 'x' }),
  ERR_API_KEY_INVALID: () => submit('dk_live_nothing'),
  ERR_INSUFFICIENT_BALANCE: async () => submit((await service.client({ balance: '0' })).key),
  ERR_ACCOUNT_DISABLED: () => submitIn('disabled'),
  ERR_API_SUSPENDED: () => submitIn('suspended'),
  ERR_FORBIDDEN: async () => {
    const { key } = await service.client();
    const minted = await service.send('/user-tokens', { key, body: { user: 'alice', spend_limit: 1 } });
    return service.send('/balance', { key: (minted.body as { token: string }).token });
  },
  ERR_MODEL_NOT_FOUND: async () => submit((await service.client()).key, { model: 'nothing' }),
  ERR_NOT_FOUND: async () =>
    service.send('/creations/01939f4e-0000-7000-8000-000000000000', { key: (await service.client()).key }),
  ERR_RATE_LIMIT: async () => submit((await service.client({ postRate: '0' })).key),
  ERR_QUOTA_EXCEEDED: async () => submit((await service.client({ maxConcurrent: '0' })).key),
  ERR_INTERNAL: async () => {
    const { key } = await service.client();
    service.machine.faults.set({ call: 'dynamodb:TransactWriteItems', error: 'AccessDenied' });
    return submit(key);
  },
  ERR_INPUT_FETCH_FAILED: async () =>
    submit((await service.client()).key, { model: 'sandbox-pro', image_urls: ['http://127.0.0.1:1/'] }),
  ERR_GENERATION_FAILED: () => ended('[sandbox:fail]'),
  ERR_PROVIDER_UNAVAILABLE: () => ended('[sandbox:down]'),
};

/** The answer to a request that waited until its creation had ended. */
async function ended(prompt: string): Promise<Answer> {
  const { key } = await service.client();
  return inTime(() => submit(key, { prompt }, { prefer: 'wait=20' }));
}

async function submitIn(condition: 'disabled' | 'suspended'): Promise<Answer> {
  const { account, key } = await service.client();
  await service.operator.accounts.change(account.id, { condition });
  return submit(key);
}

/** The statuses that docs/api.md lists. */
const documentedStatus: Readonly<Record<ProblemCode, number>> = {
  ERR_INVALID_REQUEST: 400,
  ERR_CONTENT_POLICY: 400,
  ERR_API_KEY_INVALID: 401,
  ERR_INSUFFICIENT_BALANCE: 402,
  ERR_ACCOUNT_DISABLED: 403,
  ERR_API_SUSPENDED: 403,
  ERR_FORBIDDEN: 403,
  ERR_MODEL_NOT_FOUND: 404,
  ERR_NOT_FOUND: 404,
  ERR_RATE_LIMIT: 429,
  ERR_QUOTA_EXCEEDED: 429,
  ERR_INTERNAL: 500,
  ERR_INPUT_FETCH_FAILED: 502,
  ERR_GENERATION_FAILED: 502,
  ERR_PROVIDER_UNAVAILABLE: 503,
};

describe('the table of error codes', () => {
  it.each(Object.entries(provoke))('The code %s comes with its documented status', async (code, met) => {
    expect(refusalOf(await met())).toMatchObject({
      status: documentedStatus[code as ProblemCode],
      code,
    });
  });

  it('The API has no code that is not documented', () => {
    expect(Object.keys(problemStatus).sort()).toEqual(Object.keys(documentedStatus).sort());
  });
});

describe('the log', () => {
  it('The log has no key, no prompt and no address of a client', async () => {
    const { key } = await service.client();
    await submit(key, {
      model: 'sandbox-pro',
      prompt: 'the secret garden',
      image_urls: ['http://127.0.0.1:1/private.png?token=hunter2'],
    });
    await submit(
      key,
      { prompt: 'the secret garden', webhook_url: `${service.machine.inboxUrl}/hunter2` },
      { prefer: 'wait=20' },
    );
    const text = service.log.join('\n');
    expect(text.length).toBeGreaterThan(0);
    expect(text).not.toMatch(/secret garden|hunter2/);
    expect(text).not.toContain(key);
  });
});

/** The read succeeds, so the account is known. The write after it breaks. */
describe('an operation that breaks after the authentication', () => {
  it('The answer says nothing of its cause, which the log has under the request id, and nothing is charged', async () => {
    const { key, account } = await service.client();
    service.machine.faults.set({ call: 'dynamodb:TransactWriteItems', error: 'AccessDenied', every: 1 });
    const answer = await submit(key);
    expect(refusalOf(answer)).toEqual({ status: 500, code: 'ERR_INTERNAL', details: {} });
    expect(answer.text).not.toMatch(/dynamo|denied|fault|stack|\.ts/i);
    expect(answer.headers.has('ratelimit')).toBe(true);
    expect((await service.account(account.id)).availableMicros).toBe(25_000_000);
    const id = answer.headers.get('x-request-id') ?? 'none';
    await expect
      .poll(() => service.log.some((line) => line.includes(id) && line.includes('request_failed')))
      .toBe(true);
  });
});

everyAnswer(() => service);

interface Sketch {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string | null>>;
  readonly body?: object;
}

function answerOf({ status = 429, headers = {}, body }: Sketch = {}): Answer {
  const all: Record<string, string | null> = {
    'content-type': 'application/json',
    'cache-control': 'no-store',
    'x-request-id': 'a',
    'retry-after': '3',
    'ratelimit-policy': '"get";q=600;w=60',
    ratelimit: '"get";r=0;t=3',
    ...headers,
  };
  const value = body ?? { error: { code: 'ERR_RATE_LIMIT', message: 'Slow down.', details: {} } };
  return {
    status,
    headers: new Headers(Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== null)),
    body: value,
    text: JSON.stringify(value),
  };
}

const broken: Readonly<Record<keyof typeof rules, readonly Sketch[]>> = {
  'every 429 and 503 but no_provider_enabled carries Retry-After, in whole seconds of at least 1': [
    { headers: { 'retry-after': null } },
    { headers: { 'retry-after': '0' } },
    { headers: { 'retry-after': '1.5' } },
    { status: 503, headers: { 'retry-after': null } },
    { status: 503, body: { error: { details: { reason: 'no_provider_enabled' } } } },
  ],
  'an answer says that a repetition makes no sense exactly when waiting does not help': [
    { headers: { 'x-should-retry': 'false' } },
    { headers: { 'x-should-retry': 'true' } },
    { body: { error: { details: { limit: 0 } } } },
    { body: { error: { details: { reason: 'unused_uploads' } } } },
    { status: 503, headers: { 'retry-after': '60' }, body: { error: { details: { reason: 'overloaded' } } } },
    { status: 502, body: { error: { details: { reason: 'input_fetch_failed', retryable: false } } } },
  ],
  'every answer carries X-Request-Id': [{ headers: { 'x-request-id': null } }],
  'every error fits the envelope: code, message and details and nothing else, with the status of its code': [
    { body: {} },
    { body: { error: { code: 'ERR_RATE_LIMIT', message: 'Slow down.' } } },
    { body: { error: { code: 'ERR_RATE_LIMIT', message: '', details: {} } } },
    { body: { error: { code: 'ERR_RATE_LIMIT', message: 'm', details: [] } } },
    { body: { error: { code: 'ERR_RATE_LIMIT', message: 'm', details: {}, stack: '' } } },
    { body: { error: { code: 'ERR_RATE_LIMIT', message: 'm', details: {} }, detail: 'm' } },
    { status: 400 },
    { body: { error: { code: 'ERR_OTHER', message: 'm', details: {} } } },
  ],
  'every authenticated answer carries RateLimit and RateLimit-Policy': [
    { headers: { ratelimit: null } },
    { headers: { 'ratelimit-policy': null } },
  ],
  'every answer is JSON and is not cached': [
    { headers: { 'content-type': 'text/plain' } },
    { headers: { 'cache-control': null } },
  ],
};

describe.each(Object.entries(rules))('%s', (name, rule) => {
  it('The rule is broken by each answer that breaks the rule, and by no other answer', () => {
    expect(breaking(rule, [answerOf()])).toEqual([]);
    const sketches = broken[name] ?? [];
    expect(sketches.length).toBeGreaterThan(0);
    expect(breaking(rule, sketches.map(answerOf))).toHaveLength(sketches.length);
  });
});

describe('answers that the gateway makes', () => {
  it('An answer of the gateway is recognised by its text and its missing request id', () => {
    const made = { body: { message: 'Service Unavailable' }, headers: { 'x-request-id': null } };
    expect(isMadeByGateway(answerOf(made))).toBe(true);
    expect(isMadeByGateway(answerOf({ body: made.body }))).toBe(false);
    expect(isMadeByGateway(answerOf({ headers: made.headers }))).toBe(false);
    expect(isMadeByGateway(answerOf({ ...made, body: { message: 'My own words' } }))).toBe(false);
  });
});

it('Every file here that has a service checks all answers of that service against the rules', async () => {
  const folder = new URL('.', import.meta.url);
  const files = (await readdir(folder)).filter(
    (name) => name.endsWith('.test.ts') && name !== 'every-answer.test.ts',
  );
  const sources = await Promise.all(
    files.map(async (name) => ({ name, source: await readFile(new URL(name, folder), 'utf8') })),
  );
  const asking = sources.filter(({ source }) => source.includes('TestService('));
  expect(asking.length).toBeGreaterThan(20);
  expect(
    asking
      .filter(({ source }) => !/^ *everyAnswer\(\(\) => service\);$/m.test(source))
      .map(({ name }) => name),
  ).toEqual([]);
});
