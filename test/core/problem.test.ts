import { describe, expect, it } from 'vitest';
import {
  invalidRequest,
  Problem,
  problemStatus,
  retryLater,
  withHeaders,
  type ProblemCode,
} from '../../core/problem.ts';

/** The codes and statuses of docs/api.md, copied from there. */
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
  it('A problem has a documented code and the HTTP status of that code', () => {
    expect(problemStatus).toEqual(codes);
    for (const [code, status] of Object.entries(codes))
      expect(new Problem(code as ProblemCode, 'text').status).toBe(status);
  });

  it('A problem is an error of the name Problem that keeps everything it was made of', () => {
    const problem = new Problem('ERR_NOT_FOUND', 'text', { id: 'a' }, { link: 'b' }, 'plain');
    expect(problem).toBeInstanceOf(Error);
    expect(problem).toMatchObject({
      name: 'Problem',
      code: 'ERR_NOT_FOUND',
      message: 'text',
      status: 404,
      details: { id: 'a' },
      headers: { link: 'b' },
      plainDetail: 'plain',
    });
  });

  it('A problem keeps its own headers beside added ones, and an added header wins', () => {
    const problem = new Problem('ERR_RATE_LIMIT', 'text', { reason: 'x' }, { a: '1', b: '1' });
    expect(withHeaders(problem, { b: '2', c: '2' })).toMatchObject({
      code: 'ERR_RATE_LIMIT',
      message: 'text',
      details: { reason: 'x' },
      headers: { a: '1', b: '2', c: '2' },
    });
  });

  it('A problem of no field in particular says only that the request is not valid', () => {
    expect(invalidRequest([])).toMatchObject({
      code: 'ERR_INVALID_REQUEST',
      message: 'The request is not valid.',
      details: { errors: [] },
    });
  });

  it('A problem of three fields counts two more', () => {
    const error = { field: 'a', code: 'required', message: 'required' };
    expect(invalidRequest([error, error, error]).message).toBe(
      'a: required (and 2 more, see details.errors)',
    );
  });

  it('A problem has empty details and headers when none are given', () => {
    expect(new Problem('ERR_NOT_FOUND', 'text')).toMatchObject({ details: {}, headers: {} });
  });

  it('A problem of wrong fields names the first one in its message and all of them in its details', () => {
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
  ])('A problem that ends in %d s has Retry-After: %s', (seconds, header) => {
    expect(retryLater('ERR_RATE_LIMIT', 'text', { reason: 'x' }, seconds)).toMatchObject({
      code: 'ERR_RATE_LIMIT',
      message: 'text',
      details: { reason: 'x' },
      headers: { 'retry-after': header },
    });
  });
});
