/** The clients of both generations of the protocol, unmodified. */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  Client as ClientOf2026,
  StreamableHTTPClientTransport as Http2026,
} from '@modelcontextprotocol/client';
import { Client as ClientOf2025 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as Http2025 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import type { McpStage } from './mcp-fixture.ts';

const name = { name: 'test', version: '1.0.0' };

/** The part of both clients that the tests use. */
export interface McpClient {
  listTools(): Promise<{ readonly tools: readonly { readonly name: string }[] }>;
  callTool(call: { name: string; arguments?: Record<string, unknown> }, ...options: never[]): Promise<object>;
  getInstructions(): string | undefined;
  close(): Promise<void>;
}

/** What a tool gave. A member that is not there fails the test that reads it. */
export interface ToolResult {
  readonly isError?: boolean;
  readonly content: readonly { readonly type: string; readonly text?: string; readonly data?: string }[];
  readonly structuredContent: Readonly<Record<string, unknown>>;
}

export const generations: Readonly<Record<string, (url: URL, key: string) => Promise<McpClient>>> = {
  'the client of 2026': async (url, key) => {
    // By default this client, too, speaks the protocol of 2025.
    const client = new ClientOf2026(name, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
    await client.connect(new Http2026(url, { requestInit: init(key) }));
    return client;
  },
  'the client of 2025': async (url, key) => {
    const client = new ClientOf2025(name);
    // The package of 2025 was compiled without exactOptionalPropertyTypes.
    const transport: unknown = new Http2025(url, { requestInit: init(key) });
    await client.connect(transport as Parameters<typeof client.connect>[0]);
    return client;
  },
};

function init(key: string): { headers: Record<string, string> } {
  return { headers: { Authorization: `Bearer ${key}` } };
}

/** The endpoint on a port of this machine, as a REST API serves it: for real clients. */
export interface Served {
  readonly url: URL;
  readonly end: () => Promise<void>;
}

export async function served(stage: Pick<McpStage, 'handler'>): Promise<Served> {
  const server = createServer((request, response) => {
    void (async () => {
      const { status, headers, body } = await stage.handler(await eventOf(request), {} as Context);
      response.writeHead(status, headers).flushHeaders();
      for await (const part of typeof body === 'string' ? [body] : body) response.write(part);
      response.end();
    })();
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: new URL(`http://127.0.0.1:${port}/mcp`),
    end: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Header names as the client sent them, and the rest of payload format 1.0 that the handler reads. */
async function eventOf(request: IncomingMessage): Promise<APIGatewayProxyEvent> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const { rawHeaders } = request;
  const names = rawHeaders.filter((_text, index) => index % 2 === 0);
  return {
    httpMethod: request.method,
    headers: Object.fromEntries(names.map((name, index) => [name, rawHeaders[index * 2 + 1]])),
    body: Buffer.concat(parts).toString(),
    isBase64Encoded: false,
    requestContext: {
      requestId: 'request-1',
      identity: { sourceIp: request.socket.remoteAddress ?? '' },
    },
  } as unknown as APIGatewayProxyEvent;
}
