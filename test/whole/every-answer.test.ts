/**
 * The rules for every answer: each rule can fail, and each file of this folder checks its answers against
 * them.
 */
import { readdir, readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { Answer } from '../fixtures/service.ts';
import { breaking, isMadeByGateway, rules } from './every-answer.ts';

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
  'every 429 and 503 carries Retry-After, in whole seconds of at least 1': [
    { headers: { 'retry-after': null } },
    { headers: { 'retry-after': '0' } },
    { headers: { 'retry-after': '1.5' } },
    { status: 503, headers: { 'retry-after': null } },
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
