/** What holds for every answer of the API, whatever was asked: asserted over all that a test file has received. */
import { describe, expect, it } from 'vitest';
import { problemStatus } from '../../core/problem.ts';
import type { Answer, TestService } from '../fixtures/service.ts';

/** Answers that the gateway makes by itself are told by these alone (docs list them): no function has seen the request. */
const gatewayTexts = [
  'Not Found',
  'Request Entity Too Large',
  'Service Unavailable',
  'Internal Server Error',
];

export function isMadeByGateway({ body, headers }: Answer): boolean {
  const only = body as { message?: unknown } | undefined;
  return (
    !headers.has('x-request-id') &&
    typeof only?.message === 'string' &&
    gatewayTexts.includes(only.message) &&
    Object.keys(only).length === 1
  );
}

/** Refused before it was known who asks: no good key, a blocked address, or a read that the table refused. */
function isUnauthenticated({ status, body }: Answer): boolean {
  // A failed creation has an error, too: a text.
  const { error } = body as { error?: string | { details?: { reason?: string } } };
  const reason = typeof error === 'object' ? error.details?.reason : undefined;
  return status === 401 || reason === 'burst_block' || reason === 'overloaded';
}

type Rule = (answer: Answer, form: 'envelope' | 'plain') => boolean;

export const rules: Readonly<Record<string, Rule>> = {
  'every 429 and 503 carries Retry-After, in whole seconds of at least 1': ({ status, headers }) =>
    (status !== 429 && status !== 503) || /^[1-9]\d*$/.test(headers.get('retry-after') ?? ''),
  'every answer carries X-Request-Id': ({ headers }) => (headers.get('x-request-id') ?? '') !== '',
  'every error fits the envelope: code, message and details and nothing else, with the status of its code': (
    { status, body },
    form,
  ) => {
    if (status < 400) return true;
    if (form === 'plain' && (status === 401 || status === 403))
      return (
        typeof (body as { detail?: unknown }).detail === 'string' &&
        Object.keys(body as object).join() === 'detail'
      );
    const { error, ...others } = body as { error?: Record<string, unknown> };
    const { code, message, details } = error ?? {};
    return (
      Object.keys(others).length === 0 &&
      Object.keys(error ?? {})
        .sort()
        .join() === 'code,details,message' &&
      typeof message === 'string' &&
      message !== '' &&
      typeof details === 'object' &&
      details !== null &&
      !Array.isArray(details) &&
      problemStatus[code as keyof typeof problemStatus] === status
    );
  },
  'every authenticated answer carries RateLimit and RateLimit-Policy': (answer) =>
    isUnauthenticated(answer) ||
    (/^"(get|post)";q=\d+;w=60$/.test(answer.headers.get('ratelimit-policy') ?? '') &&
      /^"(get|post)";r=\d+;t=\d+$/.test(answer.headers.get('ratelimit') ?? '')),
  'every answer is JSON and is not cached': ({ headers }) =>
    headers.get('content-type') === 'application/json' && headers.get('cache-control') === 'no-store',
};

/** The answers that break a rule. */
export function breaking(
  rule: Rule,
  answers: readonly Answer[],
  form: 'envelope' | 'plain' = 'envelope',
): string[] {
  return answers
    .filter((answer) => !isMadeByGateway(answer) && !rule(answer, form))
    .map(({ status, headers, text }) => `${status} ${JSON.stringify(Object.fromEntries(headers))} ${text}`);
}

/** Called at the end of a test file, so that it sees everything that the file has received. */
export function everyAnswer(service: () => TestService, form: 'envelope' | 'plain' = 'envelope'): void {
  describe('over everything that this file received', () => {
    it.each(Object.entries(rules))('%s', (_name, rule) => {
      const { answers } = service();
      expect(answers.length).toBeGreaterThan(0);
      expect(breaking(rule, answers, form)).toEqual([]);
    });

    it('the books of every account balance', async () => {
      // What still moves between the audit's reads comes to rest; a sum that is wrong stays wrong.
      await expect.poll(() => service().audit()).toEqual([]);
    });
  });
}
