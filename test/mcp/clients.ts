/** The clients of both generations of the protocol, unmodified. */
import {
  Client as ClientOf2026,
  StreamableHTTPClientTransport as Http2026,
} from '@modelcontextprotocol/client';
import { Client as ClientOf2025 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as Http2025 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

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
