/** The frame of the OpenAI-shaped endpoint, as that of the API (api/serve.ts). Bodies may be streamed. */
import { admit, type Caller, callerOf } from '../api/admit.ts';
import { authenticate } from '../api/authenticate.ts';
import { inTime, problemOf } from '../api/framed.ts';
import type { ApiServices } from '../api/open.ts';
import { type ApiRequest, isPreflight, restRequestOf } from '../api/request.ts';
import {
  partsOf,
  streamed,
  type StreamedAnswer,
  type StreamedHandler,
  type StreamHandler,
} from '../api/response-stream.ts';
import { requestMillis } from '../contract/limits.ts';
import type { OpenServices } from '../platform/common.ts';
import type { Problem } from '../values/problem.ts';
import { logWith } from '../values/runtime.ts';
import { refusedBy } from './refusal.ts';

export type OpenaiHandle<Services> = (
  request: ApiRequest,
  caller: Caller,
  services: Services,
) => Promise<StreamedAnswer>;

/** A Lambda handler. @param open begins a request @param millis its time, until the head of the answer */
export function serveOpenai<Services extends ApiServices>(
  handle: OpenaiHandle<Services>,
  open: OpenServices<Services>,
  millis = requestMillis,
): StreamHandler {
  return streamed(inOpenaiForm(handle, open, millis));
}

/** The same without Lambda's stream. */
export function inOpenaiForm<Services extends ApiServices>(
  handle: OpenaiHandle<Services>,
  open: OpenServices<Services>,
  millis = requestMillis,
): StreamedHandler {
  return async (event) => {
    const services = open();
    const request = restRequestOf(event);
    const answer = await answerTo(request, handle, services, millis);
    const { headers, body } = answer;
    const common = { 'cache-control': 'no-store', 'x-request-id': request.requestId };
    return {
      ...answer,
      headers: { 'content-type': 'application/json', ...common, ...headers },
      body: endsTheTime(body, services),
    };
  };
}

export function jsonAnswer(
  body: unknown,
  { status = 200, headers = {} }: Partial<Pick<StreamedAnswer, 'status' | 'headers'>> = {},
): StreamedAnswer {
  return { status, headers, body: JSON.stringify(body) };
}

/** No work continues after the last byte: a frozen environment would finish the work minutes later. */
async function* endsTheTime(
  body: StreamedAnswer['body'],
  { budget }: ApiServices,
): AsyncGenerator<string | Uint8Array> {
  try {
    yield* partsOf(body);
  } finally {
    budget.end();
  }
}

async function answerTo<Services extends ApiServices>(
  request: ApiRequest,
  handle: OpenaiHandle<Services>,
  services: Services,
  millis: number,
): Promise<StreamedAnswer> {
  try {
    if (isPreflight(request)) return { status: 204, headers: {}, body: '' };
    const rate = request.method === 'GET' ? 'get' : 'post';
    const known = await authenticate(request, rate, services);
    const named = logWith(services, { requestId: request.requestId, accountId: known.account.id });
    const run = async (caller: Caller): Promise<StreamedAnswer> => handle(request, caller, named);
    const answering = admit({ rate, request, known, run, refuse: refusalAnswer }, named);
    return await inTime(answering, services, millis).catch(async (error: unknown) => {
      const problem = problemOf(error, request.requestId, named);
      await services.refusals.note(request, callerOf(known), problem);
      return refusalAnswer(problem);
    });
  } catch (error) {
    return refusalAnswer(problemOf(error, request.requestId, services));
  }
}

function refusalAnswer(problem: Problem): StreamedAnswer {
  const { status, headers, error } = refusedBy(problem);
  return jsonAnswer({ error }, { status, headers });
}
