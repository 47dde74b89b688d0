/** Streamed answers: API Gateway sends status and headers at once, and the body as it comes. */
import type { APIGatewayProxyEvent, Context } from 'aws-lambda';

/** What a function answers in parts. Headers in lower case. */
export interface StreamedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | AsyncIterable<string | Uint8Array>;
}

export async function* partsOf(body: StreamedAnswer['body']): AsyncGenerator<string | Uint8Array> {
  if (typeof body === 'string') yield body;
  else yield* body;
}

/** Returns the answer to one event of a REST API. It never throws: a refusal is an answer, too. */
export type StreamedHandler = (event: APIGatewayProxyEvent, context: Context) => Promise<StreamedAnswer>;

export type StreamHandler = (
  event: APIGatewayProxyEvent,
  stream: ResponseStream,
  context: Context,
) => Promise<void>;

/** The stream that Lambda gives a function: the part of a Writable that this file needs. */
export interface ResponseStream {
  readonly write: (part: string | Uint8Array, written: (error?: Error | null) => void) => boolean;
  readonly end: (ended: () => void) => unknown;
  readonly once: (event: 'error', failed: (error: Error) => void) => unknown;
  readonly destroy: (error: Error) => unknown;
}

interface LambdaStreaming {
  readonly streamifyResponse: (handler: StreamHandler) => StreamHandler;
  readonly HttpResponseStream: {
    readonly from: (
      stream: ResponseStream,
      head: { readonly statusCode: number; readonly headers: Readonly<Record<string, string>> },
    ) => ResponseStream;
  };
}

/** Undefined when the file is imported outside of Lambda, where a package of the SDK makes an empty `awslambda`. */
const streaming = lambdaStreaming();

function lambdaStreaming(): LambdaStreaming | undefined {
  const { awslambda } = globalThis as { readonly awslambda?: unknown };
  const given = awslambda as Partial<LambdaStreaming> | undefined;
  return given?.streamifyResponse ? (given as LambdaStreaming) : undefined;
}

export function streamed(handle: StreamedHandler): StreamHandler {
  const handler: StreamHandler = async (event, stream, context) => {
    const { status, headers, body } = await handle(event, context);
    const out = streaming
      ? streaming.HttpResponseStream.from(stream, { statusCode: status, headers })
      : stream;
    try {
      for await (const part of typeof body === 'string' ? [body] : body) await write(out, part);
      await ended(out);
    } catch (error) {
      // The head is out. The client sees that the answer ends too early, and sends the request again.
      out.destroy(error instanceof Error ? error : new Error(String(error)));
      throw error;
    }
  };
  return streaming ? streaming.streamifyResponse(handler) : handler;
}

async function write(out: ResponseStream, part: string | Uint8Array): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    out.write(part, (error) => (error ? reject(error) : resolve()));
  });
}

async function ended(out: ResponseStream): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    out.once('error', reject);
    out.end(resolve);
  });
}
