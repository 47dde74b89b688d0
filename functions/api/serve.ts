/**
 * The frame around every operation: authentication, the account's rate, the request's
 * id and the error envelope. An operation itself only parses, decides, stores, answers.
 */
import middy from '@middy/core';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda';
import { hourOf } from '../../core/account.ts';
import { parseCreationId } from '../../core/ids.ts';
import { Overloaded } from '../../core/ports/requests.ts';
import { CountedProblem, Problem, retryLater } from '../../core/problem.ts';
import { errorName } from '../error-name.ts';
import type { ApiServices } from '../services.ts';
import { limitOf, rateExceeded, rateHeaders } from './account-rate.ts';
import { internalProblem, problemAnswer, toGateway, type ApiAnswer } from './answer.ts';
import { authenticate, type Caller } from './authenticate.ts';
import { logWith } from '../log-with.ts';
import { idempotencyHash } from './idempotency.ts';
import { requestOf, type ApiRequest } from './request.ts';

export interface OperationAnswer extends ApiAnswer {
  /** True when the request was counted against the rate by the operation's own transaction. */
  readonly counted?: boolean;
}

export type Handle<Services> = (request: ApiRequest, caller: Caller, services: Services) => Promise<OperationAnswer>;
export type ApiHandler = (event: APIGatewayProxyEventV2, context: Context) => Promise<APIGatewayProxyStructuredResultV2>;

/** A Lambda handler of one operation; 'by method' counts as the request's own method does. */
export function serve<Services extends ApiServices>(
  rate: 'get' | 'post' | 'by method',
  handle: Handle<Services>,
  services: Services,
): ApiHandler {
  const answerErrors: middy.MiddlewareObj<APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2> = {
    onError: (failed) => {
      failed.response = toGateway(errorAnswer(failed.error, failed.event, services), failed.event.requestContext.requestId);
    },
  };
  return middy<APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2>()
    .use(answerErrors)
    .handler(async (event) => {
      const request = requestOf(event);
      const kind = rate === 'by method' ? (request.method === 'GET' ? 'get' : 'post') : rate;
      const caller = await authenticate(request, questionOf(request, kind), services);
      const named = logWith(services, { requestId: request.requestId, accountId: caller.account.id });
      return toGateway(await answerOf(request, caller, kind, handle, named), request.requestId);
    });
}

function questionOf(request: ApiRequest, rate: 'get' | 'post'): Parameters<typeof authenticate>[1] {
  const creationId = parseCreationId(request.pathId);
  const hash = rate === 'post' ? idempotencyHash(request.headers['idempotency-key']) : undefined;
  return { rate, ...(creationId && { creationId }), ...(hash !== undefined && { idempotencyHash: hash }) };
}

/** The operation's answer or refusal, counted against the account's rate exactly once. */
async function answerOf<Services extends ApiServices>(
  request: ApiRequest,
  caller: Caller,
  rate: 'get' | 'post',
  handle: Handle<Services>,
  services: Services,
): Promise<ApiAnswer> {
  const refuse = (problem: Problem, overRate: boolean): ApiAnswer =>
    withHeaders(problemAnswer(problem, services.authFailureForm), rateHeaders(caller, rate, overRate));
  const count = async (): Promise<boolean> =>
    services.requests.countRequest(caller.account.id, rate, limitOf(caller, rate), caller.nowMillis);
  if (caller.state.rateCount >= limitOf(caller, rate)) return refuse(rateExceeded(caller, rate), true);
  try {
    // A GET has nothing to count it in, so it is counted beside its work instead of after it.
    const counting = rate === 'get' ? count() : undefined;
    const noting = rate === 'get' ? noteKeyUse(caller, services) : undefined;
    const [answer, isWithin] = await Promise.all([handle(request, caller, services), counting, noting]);
    const within = answer.counted === true || (isWithin ?? (await count()));
    return within ? withHeaders(answer, rateHeaders(caller, rate, false)) : refuse(rateExceeded(caller, rate), true);
  } catch (error) {
    const problem = problemOf(error, request, services);
    if (problem.details['reason'] === 'overloaded') services.log.info('request_shed', { path: request.path });
    const overRate = problem.details['reason'] === 'account_rate';
    // Where the table sheds load or an answer broke, one more write would only add to it.
    const isCounted = overRate || rate === 'get' || problem instanceof CountedProblem || isOurs(problem);
    const within = isCounted || (await count());
    return within ? refuse(problem, overRate) : refuse(rateExceeded(caller, rate), true);
  }
}

/** Once an hour for a key that only reads; a charge notes it by itself. */
async function noteKeyUse({ account, apiKey, nowMillis }: Caller, { requests, log }: ApiServices): Promise<void> {
  const hour = hourOf(nowMillis);
  if (apiKey.lastUsedAt === hour) return;
  await requests.noteKeyUse(account.id, apiKey.id, hour).catch((error: unknown) => {
    // No reason to refuse an answer: the next request notes it.
    log.info('key_use_not_noted', { error: errorName(error) });
  });
}

function isOurs({ code, details }: Problem): boolean {
  return code === 'ERR_INTERNAL' || details['reason'] === 'overloaded';
}

function withHeaders(answer: ApiAnswer, headers: Readonly<Record<string, string>>): ApiAnswer {
  return { ...answer, headers: { ...headers, ...answer.headers } };
}

function errorAnswer(error: unknown, event: APIGatewayProxyEventV2, services: ApiServices): ApiAnswer {
  return problemAnswer(problemOf(error, requestOf(event), services), services.authFailureForm);
}

function problemOf(error: unknown, request: ApiRequest, services: ApiServices): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof Overloaded) return overloaded();
  const known = error instanceof Error ? error : new Error(String(error));
  services.log.alarm('request_failed', { requestId: request.requestId, error: known.name, stack: known.stack });
  return internalProblem();
}

/** 503: the load was shed and nothing was charged. */
export function overloaded(): Problem {
  const message = 'The service is busy. Nothing was charged: send the request again.';
  return retryLater('ERR_PROVIDER_UNAVAILABLE', message, { reason: 'overloaded' }, 2);
}
