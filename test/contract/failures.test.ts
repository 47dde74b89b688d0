import { describe, expect, it } from 'vitest';
import {
  CreationFailed,
  failureNamed,
  failureNames,
  failures,
  shownFailure,
} from '../../service/contract/failures.ts';
import { apiRoot, methodsOf, operations } from '../../service/contract/operations.ts';

/** The messages of docs/api.md, copied from there: number, code, text, and whether a retry can help. */
const table: readonly [number, string, string, 'yes' | 'no'][] = [
  [
    1,
    'prompt_rejected',
    'Prompt rejected by the safety filter. Make the scene more specific — abstract or generic prompts are declined more often.',
    'no',
  ],
  [2, 'image_rejected', 'The source image was rejected. Try a different photo.', 'no'],
  [3, 'generation_failed', 'Generation failed. Please try again.', 'yes'],
  [
    4,
    'nothing_rendered',
    'Nothing was rendered for this request. Describe the image you want in the prompt, or attach the source photo it refers to.',
    'yes',
  ],
  [5, 'timed_out', 'Generation timed out.', 'yes'],
  [6, 'provider_unavailable', 'The service is temporarily unavailable. Please try again later.', 'yes'],
  [7, 'internal', 'Generation failed.', 'yes'],
];

describe('the failures of a creation', () => {
  it('The failures have the seven documented codes and messages, word for word', () => {
    const ours = failureNames
      .map((name) => failures[name])
      .map(({ number, code, message, retryable }) => [number, code, message, retryable ? 'yes' : 'no']);
    expect(ours).toEqual(table);
  });

  it('A cancelled creation has a code of its own, whatever its message is', () => {
    const cancelled = { failure: 'InternalFailure', cancelledAt: '2026-11-26' } as const;
    expect(shownFailure(cancelled)).toMatchObject({ error: 'Generation failed.', error_code: 'cancelled' });
    expect(shownFailure({ cancelledAt: '2026-11-26' })).toBeUndefined();
  });

  it('A failure is found by its name', () => {
    for (const name of failureNames) {
      expect(failureNamed(name)).toBe(name);
      expect(new CreationFailed(name)).toMatchObject({
        name,
        failure: name,
        message: failures[name].message,
      });
    }
  });

  it.each(['States.Timeout', 'States.HeartbeatTimeout'])(
    'The failure of a task that ended with %s is GenerationTimedOut',
    (name) => {
      expect(failureNamed(name)).toBe('GenerationTimedOut');
    },
  );

  it.each(['', 'Error', 'Runtime.ExitError', 'Sandbox.Timedout', 'promptrejected', 'constructor'])(
    'The failure of an error that is called %j is InternalFailure',
    (name) => {
      expect(failures[failureNamed(name)].number).toBe(7);
    },
  );
});

describe('the methods of a path', () => {
  it.each([
    ['/api/public/v1/models', ['GET']],
    ['/api/public/v1/images/generate', ['POST']],
    ['/api/public/v1/creations/019aa5a0-1000-7000-8000-00000000000a', ['GET', 'DELETE']],
    ['/api/public/v1/creations/anything', ['GET', 'DELETE']],
    ['/api/public/v1/creations/anything/cancel', ['POST']],
  ])('The path %s has the methods %j', (path, methods) => {
    expect(methodsOf(path)).toEqual(methods);
  });

  it.each([
    '',
    '/',
    '/models',
    '/api/public/v2/models',
    '/api/public/v1/models/',
    '/api/public/v1/creation',
    '/api/public/v1/creations/',
    '/api/public/v1/creations/a/b',
    '/api/public/v1/Models',
  ])('The path %j has no methods, because no operation has this path', (path) => {
    expect(methodsOf(path)).toEqual([]);
  });
});

describe('the operations', () => {
  it('The operations include the documented operations, below the documented root', () => {
    expect(apiRoot).toBe('/api/public/v1');
    const stated = Object.values(operations).map(({ method, path }) => `${method} ${path}`);
    expect(stated).toEqual(
      expect.arrayContaining(['GET /models', 'POST /images/generate', 'GET /creations/{id}']),
    );
  });
});
