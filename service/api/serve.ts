/** The frame around every operation: time, id, authentication, rate, the operation, its answer. */
import { methodsOf } from '../contract/operations.ts';
import type { OpenServices } from '../platform/common.ts';
import type { Problem } from '../values/problem.ts';
import { logWith } from '../values/runtime.ts';
import { admit, type Caller, callerOf, type Rate } from './admit.ts';
import { type ApiAnswer, problemAnswer, toGateway, withHeaders } from './answer.ts';
import { authenticate } from './authenticate.ts';
import { type ApiHandler, framed, inTime, problemOf } from './framed.ts';
import type { ApiServices } from './open.ts';
import { unknownRoute as noSuchRoute } from './problems.ts';
import { type ApiRequest, isPreflight, requestOf } from './request.ts';
import { corsHeaders, preflightHeaders, refusedToToken, shownToUser, tokenDoor } from './token-door.ts';

/** An operation: it parses, decides, stores and answers. It throws a Problem to refuse. */
export type Handle<Services> = (
  request: ApiRequest,
  caller: Caller,
  services: Services,
) => Promise<ApiAnswer>;

/**
 * A Lambda handler of one operation.
 * @param rate the account's rate that the operation counts against; 'by method' follows the request's own
 *   method
 * @param open opens the services of one request; the time of the request begins with them
 */
export function serve<Services extends ApiServices>(
  rate: Rate | 'by method',
  handle: Handle<Services>,
  open: OpenServices<Services>,
): ApiHandler {
  return framed(
    async (event, services) => {
      const request = requestOf(event);
      if (isPreflight(request))
        return toGateway(
          { status: 204, body: undefined, headers: preflightHeaders(request) },
          request.requestId,
        );
      const counted = rate === 'by method' ? (request.method === 'GET' ? 'get' : 'post') : rate;
      const known = await authenticate(request, counted, services, tokenDoor);
      const { token } = known;
      const named = logWith(services, {
        requestId: request.requestId,
        accountId: known.account.id,
        ...(token && { tokenId: token.id }),
      });
      const door = {
        rate: counted,
        request,
        known,
        run: async (caller: Caller) => {
          if (!token) return handle(request, caller, named);
          const refused = refusedToToken(token, request);
          if (refused) throw refused;
          const answer = await handle(request, caller, named);
          return { ...answer, body: shownToUser(answer.body) };
        },
        refuse: (problem: Problem) => problemAnswer(problem, services.authFailureForm),
      };
      // The page of a token reads also the answer of a request that takes too long.
      const answer = await inTime(admit<ApiAnswer>(door, named), services).catch(async (error: unknown) => {
        const problem = problemOf(error, request.requestId, named);
        await named.refusals.note(request, callerOf(known), problem);
        return door.refuse(problem);
      });
      return toGateway(withHeaders(answer, corsHeaders(token, request)), request.requestId);
    },
    (problem, { authFailureForm }, requestId) =>
      toGateway(problemAnswer(problem, authFailureForm), requestId),
    open,
  );
}

/** Every request that no operation takes: 404 after authentication; Allow when only the method is wrong. */
export const unknownRoute: Handle<ApiServices> = async ({ method, path }) =>
  Promise.reject(noSuchRoute(method, path, methodsOf(path)));
