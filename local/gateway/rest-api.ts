/** The stand-in of one REST API whose functions stream their answers. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import * as z from 'zod';
import { discardBody, readBody, sendJson, sendText, targetOf, within } from '../http.ts';
import type { AnswerSink } from '../lambda/messages.ts';
import type { AnswerType, LocalGatewayAnswer } from '../template/apis.ts';
import type { LocalRestApi, LocalRestRoute } from '../template.ts';
import { restEvent } from './events.ts';
import { type ApiOptions, headersSchema, setHeaders } from './gateway.ts';
import { asksForNewWork, noRoom, type Refusal } from './new-work.ts';
import { createRestRouter } from './router.ts';

/** Quotas of API Gateway and of Lambda. AWS raises neither of them. */
const maxBodyBytes = 10 * 1024 * 1024;
const maxEventBytes = 6 * 1024 * 1024;
/** The time after which a stream of a Regional API ends in which nothing comes. */
const longestSilenceMillis = 5 * 60_000;

export interface RestApi {
  /** Whether a path of this server belongs to the API. */
  readonly serves: (path: string) => boolean;
  readonly handle: (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>;
}

/** Makes the stand-in. It serves exactly the methods of the template. */
export function createRestApi({
  api,
  functions,
  now,
  throttles,
  hasRoom = () => true,
  silenceMillis = longestSilenceMillis,
}: ApiOptions & {
  readonly api: LocalRestApi;
  /** The real milliseconds of silence after which a stream ends. The default is 5 minutes, as in AWS. */
  readonly silenceMillis?: number;
}): RestApi {
  const find = createRestRouter(api.routes);
  const root = `/${api.stage}`;

  /** What the function gets, or the answer that API Gateway gives without it. */
  async function receive(
    incoming: IncomingMessage,
    requestId: string,
  ): Promise<Received | AnswerType | Refusal> {
    const method = incoming.method ?? '';
    const whole = targetOf(incoming).path;
    const path = whole.slice(root.length) || '/';
    const match = find(method, path);
    if (match === undefined) return 'DEFAULT_4XX';
    const body = await readBody(incoming, maxBodyBytes);
    if (body === undefined) return 'REQUEST_TOO_LARGE';
    if (throttles?.() === true) return 'THROTTLED';
    if (asksForNewWork(method, whole, body) && !hasRoom()) return noRoom(whole, requestId);
    const event = restEvent({ api, incoming, body, path, match, at: now(), requestId });
    // The body is nearly all of the event. Quotes and other characters of the JSON count, too.
    const isTooLarge = Buffer.byteLength(JSON.stringify(event.body)) > maxEventBytes;
    return isTooLarge ? 'REQUEST_TOO_LARGE' : { event, route: match.route };
  }

  return {
    serves: (path) => path === root || path.startsWith(`${root}/`),
    handle: async (incoming, outgoing) => {
      const requestId = randomUUID();
      outgoing.setHeader('x-amzn-requestid', requestId);
      const refuse = (type: AnswerType): void => send(outgoing, api.answers[type], requestId);
      const received = await receive(incoming, requestId);
      if (typeof received === 'string') {
        if (incoming.complete) refuse(received);
        else discardBody(incoming, outgoing, () => refuse(received));
        return;
      }
      if ('status' in received) {
        sendJson(outgoing, received.status, received.body, received.headers);
        return;
      }
      const { event, route } = received;
      const answer = createStreamedAnswer(outgoing, silenceMillis);
      const invocation = functions.invoke(route.functionId, event, 'held', answer.sink);
      const returned = invocation.then(() => 'returned' as const);
      const outcome = await within(route.timeoutMillis, [answer.ended, returned]);
      answer.stop();
      if (outcome === 'whole' || outgoing.destroyed) return;
      // A client that has a part of the answer must see that the rest is missing.
      if (answer.hasBegun()) outgoing.destroy();
      else refuse('DEFAULT_5XX');
    },
  };
}

interface Received {
  readonly event: APIGatewayProxyEvent;
  readonly route: LocalRestRoute;
}

function send(
  outgoing: ServerResponse,
  { status, headers, body }: LocalGatewayAnswer,
  requestId: string,
): void {
  for (const [name, value] of Object.entries(headers))
    outgoing.setHeader(name, value === 'context.requestId' ? requestId : value.slice(1, -1));
  sendText(outgoing, status, 'application/json', body);
}

const headSchema = z.object({
  statusCode: z.int().min(200).max(599),
  // https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-known-issues.html
  headers: headersSchema.transform((headers) =>
    Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [
        name.toLowerCase() === 'www-authenticate' ? 'x-amzn-remapped-www-authenticate' : name,
        value,
      ]),
    ),
  ),
  cookies: z.array(z.string()).default([]),
});

/** An answer on its way from a function to a client. */
interface StreamedAnswer {
  readonly sink: AnswerSink;
  /** Resolves when the answer is whole, or when nothing has come for too long. */
  readonly ended: Promise<'whole' | 'idle'>;
  readonly hasBegun: () => boolean;
  readonly stop: () => void;
}

/** Sends status and headers when the function gives them, and each part as it comes. */
function createStreamedAnswer(outgoing: ServerResponse, idleMillis: number): StreamedAnswer {
  const { promise: ended, resolve } = Promise.withResolvers<'whole' | 'idle'>();
  let isTaking = true;
  let hasBegun = false;
  const idle = setTimeout(() => resolve('idle'), idleMillis);
  const stop = (): void => {
    isTaking = false;
    clearTimeout(idle);
  };
  outgoing.once('close', stop);
  return {
    ended,
    hasBegun: () => hasBegun,
    stop,
    sink: {
      head: (given) => {
        const { data: head } = headSchema.safeParse(given);
        if (!isTaking || head === undefined) return;
        hasBegun = true;
        idle.refresh();
        setHeaders(outgoing, head);
        outgoing.writeHead(head.statusCode);
        outgoing.flushHeaders();
      },
      part: async (bytes) => {
        // Bytes before a head are no answer. A client that has left gets nothing more.
        if (!isTaking || !hasBegun || bytes.length === 0) return;
        idle.refresh();
        if (outgoing.write(bytes)) return;
        const left = new AbortController();
        const close = (): void => left.abort();
        outgoing.once('close', close);
        await once(outgoing, 'drain', { signal: left.signal }).catch(() => undefined);
        outgoing.off('close', close);
      },
      end: () => {
        if (!hasBegun) return;
        stop();
        outgoing.end();
        resolve('whole');
      },
    },
  };
}
