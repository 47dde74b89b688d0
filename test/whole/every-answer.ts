/** Rules for every answer of the API. Each test file checks all answers that it has received against them. */
import { describe, expect, it } from 'vitest';
import { problemStatus } from '../../service/values/problem.ts';
import type { Answer, TestService } from '../fixtures/service.ts';

/**
 * The texts of the answers that the gateway makes itself, as AWS documents them. No function has seen such a
 * request.
 */
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

/**
 * Whether the request was refused before its account was known: no valid key, a blocked address or a busy
 * table.
 */
function isUnauthenticated({ status, body }: Answer): boolean {
  // A 204 has no body. A failed creation also has the member error, which is a text there.
  const { error } = (body ?? {}) as { error?: string | { details?: { reason?: string } } };
  const reason = typeof error === 'object' ? error.details?.reason : undefined;
  return status === 401 || reason === 'burst_block' || reason === 'overloaded';
}

function detailsOf({ body }: Answer): Readonly<Record<string, unknown>> {
  const { error } = (body ?? {}) as { error?: { details?: Readonly<Record<string, unknown>> } };
  return error?.details ?? {};
}

const endedBySomebody: readonly unknown[] = ['no_provider_enabled', 'unused_uploads'];

/** Whether somebody has to act before the refusal ends: a client, an operator, or the owner of a source image. */
function isForSomebody(answer: Answer): boolean {
  const { reason, limit, retryable } = detailsOf(answer);
  const isClosed =
    answer.status === 503 && reason === 'overloaded' && answer.headers.get('retry-after') === '60';
  const isAbsent = reason === 'input_fetch_failed' && retryable === false;
  return isClosed || isAbsent || endedBySomebody.includes(reason) || (answer.status === 429 && limit === 0);
}

type Rule = (answer: Answer, form: 'envelope' | 'plain') => boolean;

export const rules: Readonly<Record<string, Rule>> = {
  'every 429 and 503 but no_provider_enabled carries Retry-After, in whole seconds of at least 1': (answer) =>
    (answer.status !== 429 && answer.status !== 503) ||
    (detailsOf(answer)['reason'] === 'no_provider_enabled'
      ? !answer.headers.has('retry-after')
      : /^[1-9]\d*$/.test(answer.headers.get('retry-after') ?? '')),
  'an answer says that a repetition makes no sense exactly when waiting does not help': (answer) =>
    answer.headers.get('x-should-retry') === (isForSomebody(answer) ? 'false' : null),
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

/** Checks all answers that a test file has received. Each file calls this function at its end. */
export function everyAnswer(service: () => TestService, form: 'envelope' | 'plain' = 'envelope'): void {
  describe('all answers that this file received', () => {
    it.each(Object.entries(rules))('The rule holds: %s', (_name, rule) => {
      const { answers } = service();
      expect(answers.length).toBeGreaterThan(0);
      expect(breaking(rule, answers, form)).toEqual([]);
    });

    it('The books of every account balance', async () => {
      // Sums that still change between the audit's reads come to rest. A wrong sum stays wrong.
      await expect.poll(() => service().audit()).toEqual([]);
    });
  });
}
