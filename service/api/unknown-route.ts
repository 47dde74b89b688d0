import { methodsOf } from '../contract/operations.ts';
import type { ApiServices } from './open.ts';
import { unknownRoute as noSuchRoute } from './problems.ts';
import type { Handle } from './serve.ts';

/**
 * Every request that no operation takes: 404 after authentication; with Allow when only the method is wrong.
 */
export const unknownRoute: Handle<ApiServices> = async ({ method, path }) =>
  Promise.reject(noSuchRoute(method, path, methodsOf(path)));
