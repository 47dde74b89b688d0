/** The frame of the MCP endpoint: method, origin, authentication, message, rate, tool or SDK. */
import {
  type CallToolResult,
  createMcpHandler,
  McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server';
import {
  addCatalog,
  type Caller,
  callerOf,
  checkRate,
  countedGet,
  isOverloaded,
  openRateSlot,
  rateHeaders,
} from '../api/admit.ts';
import { authenticate } from '../api/authenticate.ts';
import { inTime, problemOf } from '../api/framed.ts';
import { RateExceeded } from '../api/problems.ts';
import type { StreamedAnswer, StreamedHandler } from '../api/response-stream.ts';
import type { BeforeCatalog } from '../catalog/sold-catalog.ts';
import { mcpRequestMillis } from '../contract/limits.ts';
import type { OpenServices } from '../platform/common.ts';
import { logWith } from '../values/runtime.ts';
import { type Called, type Incoming, incomingOf } from './incoming.ts';
import type { McpServices } from './open.ts';
import {
  loggedRefusal,
  messageRefused,
  methodRefused,
  refusedBy,
  strayHeader,
  strayRefused,
} from './refuse.ts';
import { toolError } from './tools/creation-result.ts';
import { shown } from './tools/schemas.ts';
import type { TellProgress, Tool } from './tools/tool.ts';
import { tools } from './tools/tools.ts';

/** The MCP server of one request. The protocol keeps no state, so each request has a server of its own. */
const instructions = `Darkroom generates images for money.
generate_image charges its price at once and waits for the image. If the wait ends first, the image is still being rendered: call get_creation with the id of the result. Do not call generate_image again, because that pays for another image.
A creation that fails is refunded in full.
quote_image tells a price before it is paid, and max_cost refuses a higher one. get_balance tells what can be spent.
An address in result_url can be shown or downloaded by everyone who has it, until it expires.`;

/** @param run runs the tool that the request calls */
function createServer(run: (tool: Tool, tell?: TellProgress) => Promise<CallToolResult>): McpServer {
  const server = new McpServer(
    { name: 'darkroom', title: 'Darkroom', version: '1.0.0' },
    // The list of tools never changes while the server runs.
    { instructions, capabilities: { tools: { listChanged: false } } },
  );
  for (const tool of tools) {
    const { name, title, description, annotations, input, output } = tool;
    const config = {
      title,
      description,
      annotations,
      inputSchema: shown(input),
      outputSchema: shown(output),
    };
    server.registerTool(name, config, (_args, context) => run(tool, progressOf(context)));
  }
  return server;
}

/** Undefined when the client did not ask for progress. */
function progressOf({ mcpReq }: ServerContext): TellProgress | undefined {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return undefined;
  return async (progress, total, message) => {
    const params = { progressToken, progress, total, message };
    // A client that has disconnected gets no progress. The result of its call is the same.
    await mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined);
  };
}

/** @param open opens the services of one request; the time of the request begins with them */
export function serveMcp(open: OpenServices<BeforeCatalog<McpServices>>): StreamedHandler {
  return async (event) => {
    const incoming = incomingOf(event);
    const { requestId } = incoming.request;
    const named = (answer: StreamedAnswer): StreamedAnswer => ({
      ...answer,
      headers: { ...answer.headers, 'x-request-id': requestId },
    });
    if (event.httpMethod !== 'POST') return named(methodRefused());
    const stray = strayHeader(incoming.request);
    if (stray) return named(strayRefused(stray));
    const services = open();
    // No work continues after the answer: a frozen environment would finish the work minutes later.
    const answer = await answerTo(incoming, services).catch((error: unknown) =>
      refusedBy(problemOf(error, requestId, services), incoming.id),
    );
    return named(endingWith(answer, () => services.budget.end()));
  };
}

async function answerTo(incoming: Incoming, services: BeforeCatalog<McpServices>): Promise<StreamedAnswer> {
  const { request, rate, id } = incoming;
  const known = await authenticate(request, rate, services);
  const caller = { ...known, rateSlot: openRateSlot(known, rate, services.requests) };
  const { log } = logWith(services, { requestId: request.requestId, accountId: caller.account.id });
  const named = { ...services, log };
  try {
    const answer = await answerOf(incoming, caller, named);
    return { ...answer, headers: { ...rateHeaders(caller, rate, 1), ...answer.headers } };
  } catch (error) {
    const problem = problemOf(error, request.requestId, named);
    await services.refusals.note(request, callerOf(caller), problem);
    const answer = refusedBy(problem, id);
    const places = problem instanceof RateExceeded ? Infinity : 1;
    return { ...answer, headers: { ...rateHeaders(caller, rate, places), ...answer.headers } };
  }
}

async function answerOf(
  incoming: Incoming,
  caller: Caller,
  services: BeforeCatalog<McpServices>,
): Promise<StreamedAnswer> {
  const { message, rate } = incoming;
  const called = message.kind === 'message' ? message.call : undefined;
  if (called)
    return throughTheSdk(incoming, (tell) => calledTool(called, { incoming, caller, services, tell }));
  checkRate(caller, rate);
  return countedGet(caller, services, async () => {
    if (message.kind === 'message') return throughTheSdk(incoming, noTool);
    await services.refusals.note(incoming.request, callerOf(caller), loggedRefusal(message.kind));
    return messageRefused(message.kind);
  });
}

type RunTool = (tell: TellProgress | undefined) => Promise<CallToolResult>;

/** The SDK runs only the tool that the frame has found, and only for a message that calls this tool. */
const noTool: RunTool = () => Promise.reject(new Error('a tool was called that the frame did not find'));

async function throughTheSdk({ message, request }: Incoming, run: RunTool): Promise<StreamedAnswer> {
  const parsedBody = message.kind === 'message' ? message.body : undefined;
  let running: Promise<CallToolResult> | undefined;
  const sdk = createMcpHandler(
    () =>
      createServer(async (_tool, tell) => {
        running = run(tell);
        return running;
      }),
    // A stream of notices would only keep an execution of the function busy: the tools never change.
    { maxSubscriptions: 0 },
  );
  const headers = Object.entries(request.headers).filter(([name]) => sdkHeaders.test(name));
  const response = await sdk.fetch(
    new Request('https://darkroom.invalid/mcp', {
      method: 'POST',
      headers: headers.flatMap(([name, value]): [string, string][] =>
        value === undefined ? [] : [[name, value]],
      ),
    }),
    { parsedBody },
  );
  return {
    status: response.status,
    headers: { ...Object.fromEntries(response.headers), 'cache-control': 'no-store' },
    body: await bodyOf(response, () => running),
  };
}

/** The headers that the SDK reads. The key is none of them. */
const sdkHeaders = /^(accept|content-type|mcp-.*)$/;

async function bodyOf(
  response: Response,
  running: () => Promise<CallToolResult> | undefined,
): Promise<StreamedAnswer['body']> {
  const { body } = response;
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  return isStream && body ? untilSettled(body, running) : response.text();
}

/**
 * The parts of a stream. The tool runs to its end even when the client has gone, so a charged creation is
 * started.
 */
async function* untilSettled(
  parts: AsyncIterable<Uint8Array>,
  running: () => Promise<CallToolResult> | undefined,
): AsyncGenerator<Uint8Array> {
  try {
    yield* parts;
  } finally {
    await running()?.catch(() => undefined);
  }
}

interface Calling {
  readonly incoming: Incoming;
  readonly caller: Caller;
  readonly services: BeforeCatalog<McpServices>;
  readonly tell: TellProgress | undefined;
}

/** The result of the tool, or its refusal, which is a result as well: so the model reads what to do. */
async function calledTool({ tool, args }: Called, calling: Calling): Promise<CallToolResult> {
  const { incoming, caller, services, tell } = calling;
  const { request, rate } = incoming;
  const run = async (): Promise<CallToolResult> =>
    tool.run({
      args,
      request,
      caller,
      services: await addCatalog<McpServices>(caller, services),
      ...(tell && { tell }),
    });
  try {
    checkRate(caller, rate);
    const answering = rate === 'get' ? countedGet(caller, services, run) : run();
    return await inTime(answering, services, mcpRequestMillis);
  } catch (error) {
    const problem = problemOf(error, request.requestId, services);
    if (isOverloaded(problem)) services.log.info('request_shed', { path: request.path });
    await services.refusals.note(request, callerOf(caller), problem);
    return toolError(problem);
  }
}

/** The answer, and the work after its last byte. */
function endingWith(answer: StreamedAnswer, end: () => void): StreamedAnswer {
  const { body } = answer;
  if (typeof body !== 'string') return { ...answer, body: thenEnd(body, end) };
  end();
  return answer;
}

async function* thenEnd<Part>(parts: AsyncIterable<Part>, end: () => void): AsyncGenerator<Part> {
  try {
    yield* parts;
  } finally {
    end();
  }
}
