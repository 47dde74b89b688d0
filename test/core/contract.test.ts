import { describe, expect, it } from 'vitest';
import { apiRoot, methodsOf, operations } from '../../core/contract.ts';

describe('the methods of a path', () => {
  it.each([
    ['/api/public/v1/models', ['GET']],
    ['/api/public/v1/images/generate', ['POST']],
    ['/api/public/v1/creations/019aa5a0-1000-7000-8000-00000000000a', ['GET']],
    ['/api/public/v1/creations/anything', ['GET']],
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
