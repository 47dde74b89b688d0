import { methodsOf } from '../../core/contract.ts';
import { unknownRoute as noSuchRoute } from '../http/problems.ts';
import { openApi, type ApiServices } from '../services/api.ts';
import { base, dynamodb } from '../services/lambda.ts';
import { atFirstRequest } from '../services/open.ts';
import { serve, type Handle } from '../http/serve.ts';

/**
 * Every request that no operation takes: 404 after authentication; with Allow when only the method is wrong.
 */
export const unknownRoute: Handle<ApiServices> = async ({ method, path }) =>
  Promise.reject(noSuchRoute(method, path, methodsOf(path)));

export const handler = serve(
  'by method',
  unknownRoute,
  atFirstRequest(() => openApi({ ...base(), dynamodb: dynamodb() })),
);
