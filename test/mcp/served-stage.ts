/** The endpoint on a port of this machine, as a REST API serves it: for real clients. */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import type { McpStage } from './mcp-fixture.ts';

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
