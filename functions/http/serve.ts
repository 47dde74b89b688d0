/**
 * The frame around every operation, in the order in which a request passes through it: the time of the
 * request, the request's id, authentication, the account's rate, the operation, the answer or the envelope of
 * a refusal.
 */
import middy from '@middy/core';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda';
import { hourOf } from '../../core/account.ts';
import { overdueMillis, requestMillis } from '../../core/limits.ts';
import { Overloaded } from '../../core/ports/requests.ts';
import { Problem } from '../../core/problem.ts';
import { errorName } from '../error-name.ts';
import { logWith } from '../log-with.ts';
import type { ApiServices } from '../services/api.ts';
import type { OpenServices } from '../services/open.ts';
import { problemAnswer, toGateway, withHeaders, type ApiAnswer } from './answer.ts';
import { authenticate } from './authenticate.ts';
import type { Caller } from './caller.ts';
import { internalError, overloaded, RateExceeded } from './problems.ts';
import { checkRate, openRatePlace, rateHeaders, type Rate } from './rate.ts';
import { requestOf, type ApiRequest } from './request.ts';

/** An operation: it parses, decides, stores and answers. It throws a Problem to refuse. */
export type Handle<Services> = (
  request: ApiRequest,
  caller: Caller,
  services: Services,
) => Promise<ApiAnswer>;

export type ApiHandler = (
  event: APIGatewayProxyEventV2,
  context: Context,
) => Promise<APIGatewayProxyStructuredResultV2>;

type Result = APIGatewayProxyStructuredResultV2;
type ServedContext<Services> = Context & { readonly services: Services };
type Frame<Services> = middy.MiddlewareObj<APIGatewayProxyEventV2, Result, Error, ServedContext<Services>>;

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
  const served = middy<APIGatewayProxyEventV2, Result, Error, ServedContext<Services>>({
    // The time budget ends a request before Lambda does. middy's own early answer would leave work behind.
    timeoutEarlyInMillis: 0,
  })
    .use(frame())
    .handler(async (event, { services }) => {
      const request = requestOf(event);
      const counted = rate === 'by method' ? (request.method === 'GET' ? 'get' : 'post') : rate;
      const known = await authenticate(request, counted, services);
      const caller = { ...known, place: openRatePlace(known, counted, services.requests) };
      const named = logWith(services, { requestId: request.requestId, accountId: caller.account.id });
      const answer = await inTime(answerOf(request, caller, counted, handle, named), services);
      return toGateway(answer, request.requestId);
    });
  return async (event, context) => served(event, { ...context, services: open() });
}

/** Ends the time of the request with its answer, and answers what was thrown outside an operation. */
function frame<Services extends ApiServices>(): Frame<Services> {
  return {
    // No work goes on after the answer: a frozen environment would finish the work minutes later.
    after: ({ context: { services } }) => services.budget.end(),
    onError: (failed) => {
      const { services } = failed.context;
      services.budget.end();
      const { requestId } = failed.event.requestContext;
      const problem = problemOf(failed.error, requestId, services);
      failed.response = toGateway(problemAnswer(problem, services.authFailureForm), requestId);
    },
  };
}

/** The time budget ends every wait of an operation. An operation that goes on all the same is left behind. */
async function inTime(answering: Promise<ApiAnswer>, { clock }: ApiServices): Promise<ApiAnswer> {
  const overdue = clock.timeout(requestMillis + overdueMillis);
  try {
    return await Promise.race([
      answering,
      new Promise<never>((_, reject) => {
        overdue.signal.addEventListener('abort', () => reject(new Error('the answer is overdue')), {
          once: true,
        });
      }),
    ]);
  } finally {
    overdue.release();
  }
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
    const answer = await (rate === 'get' ? answerGet : answerPost)(request, caller, handle, services);
    return withHeaders(answer, rateHeaders(caller, rate, 1));
  } catch (error) {
    const problem = problemOf(error, request.requestId, services);
    if (isOverloaded(problem)) services.log.info('request_shed', { path: request.path });
    const places = problem instanceof RateExceeded ? Infinity : 1;
    return withHeaders(problemAnswer(problem, services.authFailureForm), rateHeaders(caller, rate, places));
  }
}

type Answering = <Services extends ApiServices>(
  request: ApiRequest,
  caller: Caller,
  handle: Handle<Services>,
  services: Services,
) => Promise<ApiAnswer>;

/** A GET writes nothing else, so its place in the rate is taken in parallel with the operation. */
const answerGet: Answering = async (request, caller, handle, services) => {
  // All three are awaited, whatever becomes of the others: Lambda may freeze work that is not awaited.
  const [answer, place] = await Promise.allSettled([
    handle(request, caller, services),
    caller.place.take(),
    noteKeyUse(caller, services),
  ]);
  if (place.status === 'rejected') throw place.reason;
  if (answer.status === 'rejected') throw answer.reason;
  return answer.value;
};

/** A POST that did not take its place in the rate before takes the place once its answer is decided. */
const answerPost: Answering = async (request, caller, handle, services) => {
  try {
    const answer = await handle(request, caller, services);
    await caller.place.take();
    return answer;
  } catch (error) {
    // When the table is busy or the answer broke, one more write would only add to the load.
    const isDecided = error instanceof Problem && !(error instanceof RateExceeded) && !isOverloaded(error);
    if (isDecided) await caller.place.take();
    throw error;
  }
};

function isOverloaded(problem: Problem): boolean {
  return problem.details['reason'] === 'overloaded';
}

/** Notes the use of a key that only reads, once an hour. A charge notes the use by itself. */
async function noteKeyUse(
  { account, apiKey, nowMillis }: Caller,
  { requests, log }: ApiServices,
): Promise<void> {
  const hour = hourOf(nowMillis);
  if (apiKey.lastUsedAt === hour) return;
  await requests.noteKeyUse(account.id, apiKey.id, hour).catch((error: unknown) => {
    // This is no reason to refuse an answer: the next request notes the use.
    log.info('key_use_not_noted', { error: errorName(error) });
  });
}

/** What the client gets of anything thrown. An unexpected error enters the log with an alarm. */
function problemOf(error: unknown, requestId: string, { log }: ApiServices): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof Overloaded) return overloaded();
  const known = error instanceof Error ? error : new Error(String(error));
  log.alarm('request_failed', { requestId, error: known.name, stack: known.stack });
  return internalError();
}
