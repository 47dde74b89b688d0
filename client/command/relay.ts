/**
 * The relay between a host that speaks MCP over standard input and output, one JSON-RPC message a line, and the
 * endpoint that speaks it over HTTP. It reads only what the transport needs, so every generation of the protocol passes.
 */
/** The data of each server-sent event of a body, in order. The other fields of an event are of no use here. */
export async function* serverSentData(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  let data: string[] = [];
  for await (const part of body) {
    const lines = `${rest}${decoder.decode(part, { stream: true })}`.split(/\r?\n/);
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line === '' && data.length > 0) {
        yield data.join('\n');
        data = [];
      }
      if (line.startsWith('data:')) data.push(line.slice(5).replace(/^ /, ''));
    }
  }
}

export interface Relay {
  /** Sends one line to the endpoint, and writes what comes back. It never throws. */
  readonly pass: (line: string) => Promise<void>;
}

export interface RelayOptions {
  readonly url: URL;
  readonly apiKey: string;
  /** Names the program. Different in each run: then no two runs take each other's calls for their own. */
  readonly userAgent: string;
  readonly signal: AbortSignal;
  readonly sleep: (millis: number, signal?: AbortSignal) => Promise<void>;
  readonly write: (line: string) => void;
  /** A sentence for the log of the host. */
  readonly tell: (sentence: string) => void;
}

interface Message {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

interface Failure {
  readonly sentence: string;
  /** A repetition does not help. */
  readonly isFinal: boolean;
}

const parseError = -32_700;
const serverError = -32_000;
const retryMillis = 1_000;
const versionKey = 'io.modelcontextprotocol/protocolVersion';

export function createRelay({ url, write, tell, signal, sleep, ...options }: RelayOptions): Relay {
  /** What a client of 2025 has agreed on with the endpoint. A client of 2026 says it in each message. */
  let agreed: string | undefined;

  const send = async (line: string, message: Message): Promise<Response> => {
    const version = versionOf(message) ?? agreed;
    return fetch(url, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${options.apiKey}`,
        'user-agent': options.userAgent,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(version !== undefined && { 'mcp-protocol-version': version }),
        ...namedHeaders(message),
      },
      body: line,
      signal,
    });
  };

  /** Writes the messages of an answer. True when the message itself was answered among them. */
  const writeAnswer = async (response: Response, message: Message): Promise<boolean> => {
    let isAnswered = false;
    for await (const text of messagesIn(response)) {
      const answer = asObject(text);
      if (answer?.['jsonrpc'] !== '2.0') continue;
      // An error of the endpoint itself may name no id. Then it is about the message that was sent.
      const isError = answer['error'] !== undefined && (answer['id'] ?? null) === null;
      const reply = isError && message.id !== undefined ? { ...answer, id: message.id } : answer;
      if (message.method === 'initialize') agreed = agreedIn(answer) ?? agreed;
      if (isError && message.id === undefined) continue;
      isAnswered ||= reply['id'] === message.id;
      write(JSON.stringify(reply));
    }
    return isAnswered;
  };

  /** Undefined when the message was answered, or needs no answer. */
  const attempt = async (line: string, message: Message): Promise<Failure | undefined> => {
    try {
      const response = await send(line, message);
      const isAnswered = await writeAnswer(response, message);
      if (isAnswered || message.id === undefined) return undefined;
      const { status } = response;
      return {
        sentence: `${url.href} answered with ${status} and no message of MCP.`,
        isFinal: status >= 400 && status < 500,
      };
    } catch (error) {
      return { sentence: `${url.origin} cannot be reached: ${causeOf(error)}`, isFinal: false };
    }
  };

  return {
    pass: async (line) => {
      const message = asObject(line) as Message | undefined;
      if (!message) {
        write(errorLine(null, parseError, 'The line is not a JSON-RPC message.'));
        return;
      }
      let failure = await attempt(line, message);
      if (failure && !failure.isFinal && !signal.aborted) {
        // The same message is never paid twice: the endpoint knows it again by its id.
        await sleep(retryMillis, signal).catch(() => undefined);
        failure = await attempt(line, message);
      }
      if (!failure || signal.aborted) return;
      tell(failure.sentence);
      if (message.id !== undefined) write(errorLine(message.id, serverError, failure.sentence));
    },
  };
}

async function* messagesIn(response: Response): AsyncGenerator<string> {
  const type = response.headers.get('content-type') ?? '';
  if (type.startsWith('text/event-stream') && response.body) yield* serverSentData(response.body);
  else yield await response.text();
}

/** Headers that repeat parts of the message, for whoever routes it. Required since 2026. */
function namedHeaders({ method, params = {} }: Message): Record<string, string> {
  const name = params['name'] ?? params['uri'];
  return {
    ...(method !== undefined && { 'mcp-method': asHeader(method) }),
    ...(typeof name === 'string' && { 'mcp-name': asHeader(name) }),
  };
}

/** A text that no header can carry is sent in Base64, as the protocol has it. */
function asHeader(text: string): string {
  const isPlain = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !text.startsWith('=?base64?');
  return isPlain ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`;
}

function versionOf({ params }: Message): string | undefined {
  const version = (params?.['_meta'] as Record<string, unknown> | undefined)?.[versionKey];
  return typeof version === 'string' ? version : undefined;
}

function agreedIn(answer: Readonly<Record<string, unknown>>): string | undefined {
  const version = (answer['result'] as Record<string, unknown> | undefined)?.['protocolVersion'];
  return typeof version === 'string' ? version : undefined;
}

function asObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function errorLine(id: string | number | null, code: number, message: string): string {
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } });
}

/** fetch says "fetch failed", and hides the rest in its cause. */
function causeOf(error: unknown): string {
  const { cause, message } = error as { cause?: { code?: unknown }; message?: unknown };
  return String(cause?.code ?? message);
}
