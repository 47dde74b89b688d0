import { describe, expect, it } from 'vitest';
import {
  type FieldError,
  invalidRequest,
  Problem,
  retryLater,
  withHeaders,
} from '../../service/values/problem.ts';
import { OutcomeUnknown, Overloaded } from '../../service/values/errors.ts';
import { CredentialsUnreadable, refusedBy } from '../../service/vendors/provider.ts';
import { SecretLost } from '../../service/webhooks/secret-box.ts';

describe('a problem', () => {
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

  it('A problem of wrong fields names the first one in its message and all of them in its details', () => {
    const errors: readonly FieldError[] = [
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

describe('the errors of core', () => {
  it.each([
    ['Overloaded', Overloaded],
    ['OutcomeUnknown', OutcomeUnknown],
    ['SecretLost', SecretLost],
    ['CredentialsUnreadable', CredentialsUnreadable],
  ])('An error has a name that the log shows: %s', (name, Kind) => {
    const cause = new Error('why');
    expect(new Kind('text', { cause })).toMatchObject({ name, message: 'text', cause });
  });
});

describe('a refusal by a provider', () => {
  it('A refusal has its reason, and a detail only when there is one', () => {
    expect(refusedBy('prompt')).toStrictEqual({ kind: 'refused', reason: 'prompt' });
    expect(refusedBy('failed', 'HTTP 500')).toStrictEqual({
      kind: 'refused',
      reason: 'failed',
      detail: 'HTTP 500',
    });
  });
});
