import { apiRoot, methodsOf } from '../../core/contract.ts';
import { Problem } from '../../core/problem.ts';
import { apiServices, type ApiServices } from '../services.ts';
import { serve, type Handle } from '../http/serve.ts';

/** Everything that is no operation: 404, after authentication; with Allow when only the method is wrong. */
export const unknownRoute: Handle<ApiServices> = async (request) => {
  const allowed = methodsOf(request.path);
  const message =
    allowed.length > 0
      ? `${request.path} does not take ${request.method}.`
      : `There is nothing at ${request.path}. The API's root is ${apiRoot}.`;
  return Promise.reject(
    new Problem('ERR_NOT_FOUND', message, {}, allowed.length > 0 ? { allow: allowed.join(', ') } : {}),
  );
};

export const handler = serve('by method', unknownRoute, apiServices());
