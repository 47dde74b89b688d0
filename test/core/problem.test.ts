import { describe, expect, it } from 'vitest';
import { invalidRequest, Problem, problemStatus, retryLater, type ProblemCode } from '../../core/problem.ts';

/** interface.md, part 7, "Codes", copied from there. */
const codes = {
  ERR_INVALID_REQUEST: 400,
  ERR_CONTENT_POLICY: 400,
  ERR_API_KEY_INVALID: 401,
  ERR_INSUFFICIENT_BALANCE: 402,
  ERR_ACCOUNT_DISABLED: 403,
  ERR_API_SUSPENDED: 403,
  ERR_MODEL_NOT_FOUND: 404,
  ERR_NOT_FOUND: 404,
  ERR_RATE_LIMIT: 429,
  ERR_QUOTA_EXCEEDED: 429,
  ERR_INTERNAL: 500,
  ERR_INPUT_FETCH_FAILED: 502,
  ERR_GENERATION_FAILED: 502,
  ERR_PROVIDER_UNAVAILABLE: 503,
};

describe('a problem', () => {
  it('has a code of the interface and its HTTP status', () => {
    expect(problemStatus).toEqual(codes);
    for (const [code, status] of Object.entries(codes))
      expect(new Problem(code as ProblemCode, 'text').status).toBe(status);
  });

  it('has details even when there is nothing to say', () => {
    expect(new Problem('ERR_NOT_FOUND', 'text')).toMatchObject({ details: {}, headers: {} });
  });

  it('with fields names the first in its message and all in its details', () => {
    const errors = [
      { field: 'prompt', code: 'too_long', message: 'at most 10 characters' },
      { field: 'seed', code: 'invalid_type', message: 'must be a whole number' },
    ];
    const one = invalidRequest(errors.slice(0, 1));
    const two = invalidRequest(errors);
    expect(one).toMatchObject({
      code: 'ERR_INVALID_REQUEST',
      message: 'prompt: at most 10 characters',
      details: { errors: errors.slice(0, 1) },
    });
    expect(two).toMatchObject({
      message: 'prompt: at most 10 characters (and 1 more, see details.errors)',
      details: { errors },
    });
  });

  it.each([
    [0, '1'],
    [-5, '1'],
    [0.2, '1'],
    [2, '2'],
    [59.001, '60'],
  ])('that clears in %d s says Retry-After: %s', (seconds, header) => {
    expect(retryLater('ERR_RATE_LIMIT', 'text', { reason: 'x' }, seconds).headers).toEqual({
      'retry-after': header,
    });
  });
});
