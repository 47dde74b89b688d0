/** The MCP endpoint over fakes of the ports. The account may do everything unless a test says otherwise. */
import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import type { StreamedAnswer, StreamedHandler } from '../../service/api/response-stream.ts';
import { type BeforeCatalog, soldCatalogs } from '../../service/catalog/sold-catalog.ts';
import { mcpRequestMillis } from '../../service/contract/limits.ts';
import type { CreationStore } from '../../service/creations/creation-store.ts';
import type { CreationRecord } from '../../service/creations/creation.ts';
import type { ImageStore } from '../../service/creations/image-store.ts';
import type { McpServices } from '../../service/mcp/open.ts';
import { serveMcp } from '../../service/mcp/serve-mcp.ts';
import type { CreationId } from '../../service/values/ids.ts';
import { startBudget } from '../../service/values/time.ts';
import { pngBytes, stub } from '../api/fakes.ts';
import { accepting, type Stage } from '../api/serve-fixture.ts';
import { apiKeyText, storedImage } from '../fixtures/records.ts';

export interface McpSetting extends Omit<NonNullable<Parameters<typeof accepting>[0]>, 'services'> {
  /** What each read of a creation finds. The last one stays. Default: it is completed at the first read. */
  readonly reads?: readonly ((charged: CreationRecord) => CreationRecord)[];
  readonly services?: Partial<McpServices>;
}

export interface McpStage extends Stage {
  readonly handler: StreamedHandler;
}

export const completed = (charged: CreationRecord): CreationRecord => ({
  ...charged,
  status: 'completed',
  results: [
    { ...storedImage, key: 'results/lake.png', contentType: 'image/png', bytes: pngBytes.byteLength },
  ],
  resultsExpireAt: charged.deadlineAt + 86_400_000,
});

export const processing = (charged: CreationRecord): CreationRecord => ({ ...charged, status: 'processing' });

export const failed = (charged: CreationRecord): CreationRecord => ({
  ...charged,
  status: 'failed',
  failure: 'PromptRejected',
  refundedMicros: charged.costMicros,
});

export function mcpStage(setting: McpSetting = {}): McpStage {
  const { reads = [completed], services, ...rest } = setting;
  const stage = accepting(rest);
  let count = 0;
  const read = (id: CreationId): Promise<CreationRecord | undefined> => {
    const charged = stage.orders.flatMap(({ creations }) => creations).find((one) => one.id === id);
    if (!charged) return Promise.resolve(undefined);
    const next = reads[Math.min(count, reads.length - 1)];
    count += 1;
    return Promise.resolve().then(() => next?.(charged));
  };
  const open = (): BeforeCatalog<McpServices> => {
    const { catalog: staged, ...api } = stage.open() as unknown as McpServices;
    const { catalog = staged, ...others } = services ?? {};
    // The time of a request of this endpoint is longer.
    api.budget.end();
    return stub<BeforeCatalog<McpServices>>({
      ...api,
      catalogs: soldCatalogs({ ours: catalog }, () => Promise.resolve(undefined)),
      creations: stub<CreationStore>({ read }),
      images: stub<ImageStore>({ get: () => Promise.resolve(pngBytes) }),
      budget: startBudget(stage.clock, mcpRequestMillis),
      ...others,
    });
  };
  return {
    ...stage,
    get counted() {
      return stage.counted;
    },
    handler: serveMcp(open),
  };
}

export interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly sourceIp?: string;
  /** The raw body, instead of the message. */
  readonly text?: string;
}

/** The headers of a client of the specification of 2026. */
const usual = {
  Authorization: `Bearer ${apiKeyText}`,
  'Content-Type': 'application/json',
  Accept: 'application/json, text/event-stream',
  'MCP-Protocol-Version': '2026-07-28',
};

/** An event in payload format 1.0, with the only fields that the handler reads. */
export function mcpEvent(message: unknown, sent: Sent = {}): APIGatewayProxyEvent {
  const { method: rpcMethod, params } = (message ?? {}) as { method?: string; params?: { name?: string } };
  return {
    httpMethod: sent.method ?? 'POST',
    headers: {
      ...usual,
      ...(rpcMethod !== undefined && { 'Mcp-Method': rpcMethod }),
      ...(params?.name !== undefined && { 'Mcp-Name': params.name }),
      ...sent.headers,
    },
    body: sent.text ?? JSON.stringify(message),
    isBase64Encoded: false,
    requestContext: { requestId: 'request-1', identity: { sourceIp: sent.sourceIp ?? '203.0.113.7' } },
  } as unknown as APIGatewayProxyEvent;
}

export interface RpcAnswer {
  readonly status: number;
  readonly headers: StreamedAnswer['headers'];
  readonly text: string;
  /** The last JSON-RPC message of the answer. */
  readonly body: RpcBody;
}

/** A member that is not there is undefined, and fails the test that reads it. */
interface RpcBody {
  readonly result: {
    readonly isError?: boolean;
    readonly structuredContent: Readonly<Record<string, unknown>>;
    readonly content: readonly {
      readonly type: string;
      readonly text?: string;
      readonly data?: string;
    }[];
    readonly tools: readonly {
      readonly name: string;
      readonly annotations: object;
      readonly inputSchema: { readonly properties: object; readonly required: readonly string[] };
      readonly outputSchema: object;
    }[];
    readonly instructions: string;
    readonly _meta: object;
  };
  readonly error: {
    readonly code: number;
    readonly message: string;
    readonly data: { readonly code: string };
  };
}

export async function sendEvent(stage: McpStage, event: APIGatewayProxyEvent): Promise<RpcAnswer> {
  const { status, headers, body } = await stage.handler(event, {} as Context);
  const parts: Uint8Array[] = [];
  for await (const part of typeof body === 'string' ? [body] : body) parts.push(Buffer.from(part));
  const text = Buffer.concat(parts).toString();
  const messages = text.startsWith('{')
    ? [text]
    : [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data]) => data);
  return { status, headers, text, body: JSON.parse(messages.at(-1) ?? 'null') as RpcBody };
}

const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'a-test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** A JSON-RPC request of a client of 2026. */
export function rpc(
  method: string,
  params: Readonly<Record<string, unknown>> = {},
  id: string | number = 1,
): object {
  const { _meta = {}, ...rest } = params;
  return { jsonrpc: '2.0', id, method, params: { ...rest, _meta: { ...meta, ...(_meta as object) } } };
}

/** Calls a tool, and gives the result. */
export async function callTool(
  stage: McpStage,
  name: string,
  args: Readonly<Record<string, unknown>> = {},
  { id = 1, ...sent }: Sent & { readonly id?: string | number } = {},
): Promise<RpcAnswer & { readonly said: string }> {
  const answer = await sendEvent(stage, mcpEvent(rpc('tools/call', { name, arguments: args }, id), sent));
  const told = answer.body.result as RpcBody['result'] | undefined;
  return { ...answer, said: told?.content[0]?.text ?? '' };
}
