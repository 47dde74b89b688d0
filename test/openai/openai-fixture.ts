/** The OpenAI-shaped endpoint over fakes of the ports: the events of a REST API, and answers as they are streamed. */
import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import type { StreamedHandler } from '../../service/api/response-stream.ts';
import { inOpenaiForm, type OpenaiHandle } from '../../service/openai/serve-openai.ts';
import { accepting, bearer, type Stage, type StageServices } from '../api/serve-fixture.ts';

export interface OpenaiAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  readonly body: {
    readonly error?: {
      readonly message: string;
      readonly type: string;
      readonly param: string | null;
      readonly code: string;
      readonly details: Readonly<Record<string, unknown>>;
    };
  } & Readonly<Record<string, unknown>>;
}

export interface OpenaiSending {
  readonly method?: string;
  /** Below /openai/v1. */
  readonly path?: string;
  readonly pathId?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

/** An event of a REST API. It is as AWS documents it, with the names of headers as the client wrote them. */
export function restEvent(sending: OpenaiSending = {}): APIGatewayProxyEvent {
  const { method = 'GET', path = '/models', pathId, query, headers, body } = sending;
  return {
    httpMethod: method,
    path,
    resource: `/v1${path}`,
    headers: { Authorization: bearer.authorization, ...headers },
    pathParameters: pathId === undefined ? null : { id: pathId },
    queryStringParameters: query ?? null,
    requestContext: {
      requestId: 'request-1',
      path: `/openai/v1${path}`,
      identity: { sourceIp: '203.0.113.7' },
    },
    body: body === undefined ? null : typeof body === 'string' ? body : Buffer.from(body).toString('base64'),
    isBase64Encoded: body instanceof Uint8Array,
  } as unknown as APIGatewayProxyEvent;
}

/** What a client gets: the head, and the body once it has ended. */
export async function received(
  handler: StreamedHandler,
  sending: OpenaiSending,
  onPart: () => void = () => undefined,
): Promise<OpenaiAnswer> {
  const { status, headers, body } = await handler(restEvent(sending), {} as Context);
  let text = '';
  for await (const part of typeof body === 'string' ? [body] : body) {
    onPart();
    text += typeof part === 'string' ? part : Buffer.from(part).toString();
  }
  const isJson = headers['content-type'] === 'application/json';
  return { status, headers, text, body: isJson ? (JSON.parse(text) as OpenaiAnswer['body']) : {} };
}

/** One request to an operation over the services of the stage. */
export async function ask<Services extends StageServices>(
  handle: OpenaiHandle<Services>,
  sending: OpenaiSending = {},
  stage: Stage = accepting({}),
  more: Partial<Services> = {},
): Promise<OpenaiAnswer> {
  const open = (): Services => Object.assign(stage.open(), more) as Services;
  return received(inOpenaiForm(handle, open), sending);
}
