/**
 * The frame around every operation, in the order in which a request passes through it: the time of the
 * request, the request's id, authentication, the account's rate, the operation, the answer or the envelope of
 * a refusal.
 */
import { logWith } from '../log-with.ts';
import type { ApiServices } from '../services/api.ts';
import type { OpenServices } from '../services/open.ts';
import { problemAnswer, toGateway, withHeaders, type ApiAnswer } from './answer.ts';
import { authenticate } from './authenticate.ts';
import type { Caller } from './caller.ts';
import { countedGet } from './counted-get.ts';
import { countedPost, isOverloaded } from './counted-post.ts';
import { framed, inTime, problemOf, type ApiHandler } from './framed.ts';
import { isPreflight } from './preflight.ts';
import { RateExceeded } from './problems.ts';
import { checkRate, openRatePlace, rateHeaders, type Rate } from './rate.ts';
import { requestOf, type ApiRequest } from './request.ts';

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
      if (isPreflight(request)) return toGateway({ status: 204, body: undefined }, request.requestId);
      const counted = rate === 'by method' ? (request.method === 'GET' ? 'get' : 'post') : rate;
      const known = await authenticate(request, counted, services);
      const caller = { ...known, place: openRatePlace(known, counted, services.requests) };
      const named = logWith(services, { requestId: request.requestId, accountId: caller.account.id });
      const answer = await inTime(answerOf(request, caller, counted, handle, named), services);
      return toGateway(answer, request.requestId);
    },
    (problem, { authFailureForm }, requestId) =>
      toGateway(problemAnswer(problem, authFailureForm), requestId),
    open,
  );
}

/** The operation's answer or refusal, with the headers of the account's rate. */
async function answerOf<Services extends ApiServices>(
  request: ApiRequest,
  caller: Caller,
  rate: Rate,
  handle: Handle<Services>,
  services: Services,
): Promise<ApiAnswer> {
  try {
    checkRate(caller, rate);
    const run = (): Promise<ApiAnswer> => handle(request, caller, services);
    const answer = await (rate === 'get'
      ? countedGet(caller, services, run)
      : countedPost(caller.place, run));
    return withHeaders(answer, rateHeaders(caller, rate, 1));
  } catch (error) {
    const problem = problemOf(error, request.requestId, services);
    if (isOverloaded(problem)) services.log.info('request_shed', { path: request.path });
    const places = problem instanceof RateExceeded ? Infinity : 1;
    return withHeaders(problemAnswer(problem, services.authFailureForm), rateHeaders(caller, rate, places));
  }
}
