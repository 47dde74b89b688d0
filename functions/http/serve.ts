/**
 * The frame around every operation: the request's time, authentication, the account's rate, the
 * request's id and the error envelope. An operation itself only parses, decides, stores, answers.
 */
import middy from '@middy/core';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda';
import { hourOf } from '../../core/account.ts';
import { parseCreationId } from '../../core/ids.ts';
import { overdueMillis, requestMillis } from '../../core/limits.ts';
import { Overloaded } from '../../core/ports/requests.ts';
import { Problem, retryLater } from '../../core/problem.ts';
import { errorName } from '../error-name.ts';
import { logWith } from '../log-with.ts';
import type { ApiServices, OpenServices } from '../services.ts';
import { limitOf, openRatePlace, RateExceeded, rateExceeded, rateHeaders } from './account-rate.ts';
import { internalProblem, problemAnswer, toGateway, type ApiAnswer } from './answer.ts';
import { authenticate } from './authenticate.ts';
import type { Caller } from './caller.ts';
import { idempotencyHash } from '../operations/generate/idempotency.ts';
import { requestOf, type ApiRequest } from './request.ts';

export type Handle<Services> = (
  request: ApiRequest,
  caller: Caller,
  services: Services,
) => Promise<ApiAnswer>;
export type ApiHandler = (
  event: APIGatewayProxyEventV2,
  context: Context,
) => Promise<APIGatewayProxyStructuredResultV2>;

type ServedContext<Services> = Context & { readonly services: Services };

/**
 * A Lambda handler of one operation.
 * @param rate the account's rate that the operation counts against; 'by method' follows the request's own method
 * @param open opens the services of one request; the time of the request begins with them
 */
export function serve<Services extends ApiServices>(
  rate: 'get' | 'post' | 'by method',
  handle: Handle<Services>,
  open: OpenServices<Services>,
): ApiHandler {
  const frame: middy.MiddlewareObj<
    APIGatewayProxyEventV2,
    APIGatewayProxyStructuredResultV2,
    Error,
    ServedContext<Services>
  > = {
    // Behind the answer nothing goes on: a frozen environment would finish the work minutes later.
    after: ({ context: { services } }) => services.budget.end(),
    onError: (failed) => {
      const { services } = failed.context;
      services.budget.end();
      const problem = problemOf(failed.error, requestOf(failed.event), services);
      failed.response = toGateway(
        problemAnswer(problem, services.authFailureForm),
        failed.event.requestContext.requestId,
      );
    },
  };
  // The time of the request ends before Lambda's does: middy's own early answer is switched off.
  const served = middy<
    APIGatewayProxyEventV2,
    APIGatewayProxyStructuredResultV2,
    Error,
    ServedContext<Services>
  >({ timeoutEarlyInMillis: 0 })
    .use(frame)
    .handler(async (event, { services }) => {
      const request = requestOf(event);
      const kind = rate === 'by method' ? (request.method === 'GET' ? 'get' : 'post') : rate;
      const known = await authenticate(request, questionOf(request, kind), services);
      const caller = { ...known, place: openRatePlace(known, kind, services.requests) };
      const named = logWith(services, { requestId: request.requestId, accountId: caller.account.id });
      return toGateway(
        await inTime(answerOf(request, caller, kind, handle, named), services),
        request.requestId,
      );
    });
  return async (event, context) => served(event, { ...context, services: open() });
}

function questionOf(request: ApiRequest, rate: 'get' | 'post'): Parameters<typeof authenticate>[1] {
  const creationId = parseCreationId(request.pathId);
  const hash = rate === 'post' ? idempotencyHash(request.headers['idempotency-key']) : undefined;
  return { rate, ...(creationId && { creationId }), ...(hash !== undefined && { idempotencyHash: hash }) };
}

/** Every wait of an operation ends with the request's time. An operation that goes on all the same is left behind. */
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

/** The operation's answer or refusal, with the request's place in the account's rate. */
async function answerOf<Services extends ApiServices>(
  request: ApiRequest,
  caller: Caller,
  rate: 'get' | 'post',
  handle: Handle<Services>,
  services: Services,
): Promise<ApiAnswer> {
  try {
    if (caller.state.rateCount >= limitOf(caller, rate)) throw rateExceeded(caller, rate);
    const answer = await (rate === 'get' ? answerGet : answerPost)(request, caller, handle, services);
    return withHeaders(answer, rateHeaders(caller, rate, 1));
  } catch (error) {
    const problem = problemOf(error, request, services);
    if (problem.details['reason'] === 'overloaded') services.log.info('request_shed', { path: request.path });
    return withHeaders(
      problemAnswer(problem, services.authFailureForm),
      rateHeaders(caller, rate, problem instanceof RateExceeded ? Infinity : 1),
    );
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
  // Each is waited for, whatever becomes of the others: Lambda may freeze what is not awaited.
  const [answer, place] = await Promise.allSettled([
    handle(request, caller, services),
    caller.place.take(),
    noteKeyUse(caller, services),
  ]);
  if (place.status === 'rejected') throw place.reason;
  if (answer.status === 'rejected') throw answer.reason;
  return answer.value;
};

/** A POST that no transaction and no update of its own has counted is counted once its answer is decided. */
const answerPost: Answering = async (request, caller, handle, services) => {
  try {
    const answer = await handle(request, caller, services);
    await caller.place.take();
    return answer;
  } catch (error) {
    // Where the table is busy or an answer broke, one more write would only add to it.
    if (
      error instanceof Problem &&
      !(error instanceof RateExceeded) &&
      error.details['reason'] !== 'overloaded'
    )
      await caller.place.take();
    throw error;
  }
};

/** Once an hour for a key that only reads; a charge notes it by itself. */
async function noteKeyUse(
  { account, apiKey, nowMillis }: Caller,
  { requests, log }: ApiServices,
): Promise<void> {
  const hour = hourOf(nowMillis);
  if (apiKey.lastUsedAt === hour) return;
  await requests.noteKeyUse(account.id, apiKey.id, hour).catch((error: unknown) => {
    // No reason to refuse an answer: the next request notes it.
    log.info('key_use_not_noted', { error: errorName(error) });
  });
}

function withHeaders(answer: ApiAnswer, headers: Readonly<Record<string, string>>): ApiAnswer {
  return { ...answer, headers: { ...headers, ...answer.headers } };
}

function problemOf(error: unknown, request: ApiRequest, services: ApiServices): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof Overloaded) return overloaded();
  const known = error instanceof Error ? error : new Error(String(error));
  services.log.alarm('request_failed', {
    requestId: request.requestId,
    error: known.name,
    stack: known.stack,
  });
  return internalProblem();
}

/** 503: the load was shed and nothing was charged. */
export function overloaded(): Problem {
  const message = 'The service is busy. Nothing was charged: send the request again.';
  return retryLater('ERR_PROVIDER_UNAVAILABLE', message, { reason: 'overloaded' }, 2);
}
