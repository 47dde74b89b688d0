/** Serves the recipes of receivers (client/recipes) on sockets, each as its framework or platform would. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { vi } from 'vitest';
import * as z from 'zod';
import { portOf } from '../fixtures/values.ts';

export const recipeNames = ['express', 'hono', 'route', 'lambda'] as const;
export type RecipeName = (typeof recipeNames)[number];

export interface RecipeServer {
  readonly url: string;
  close(): Promise<void>;
}

interface Incoming {
  readonly headers: Record<string, string>;
  readonly body: Buffer;
}
type Serve = (incoming: Incoming) => Promise<number>;

const asRequest = ({ headers, body }: Incoming): Request =>
  new Request('http://receiver.example/hooks', { method: 'POST', headers, body: new Uint8Array(body) });

/** Starts a recipe. The environment variables that it reads are set while it is imported. */
export async function startRecipe(name: RecipeName, secret: string): Promise<RecipeServer> {
  vi.stubEnv('DARKROOM_WEBHOOK_SECRET', secret);
  vi.stubEnv('PORT', '0');
  try {
    const server = await servers[name]();
    if (!server.listening) await once(server, 'listening');
    return { url: `http://127.0.0.1:${portOf(server)}/hooks`, close: async () => close(server) };
  } finally {
    vi.unstubAllEnvs();
  }
}

const servers: Readonly<Record<RecipeName, () => Promise<Server>>> = {
  express: async () => {
    const { server } = (await imported('express')) as { server: Server };
    return server;
  },
  hono: async () => {
    const { default: app } = (await imported('hono')) as {
      default: { fetch(request: Request): Promise<Response> };
    };
    return serverOf(async (incoming) => (await app.fetch(asRequest(incoming))).status);
  },
  route: async () => {
    const { POST } = (await imported('route')) as { POST: (request: Request) => Promise<Response> };
    return serverOf(async (incoming) => (await POST(asRequest(incoming))).status);
  },
  lambda: async () => {
    const { handler } = (await imported('lambda')) as { handler: (event: object) => Promise<unknown> };
    return serverOf(async ({ headers, body }) => {
      // API Gateway and function URLs encode a body when its type is binary.
      const event = { headers, body: body.toString('base64'), isBase64Encoded: true };
      return z.object({ statusCode: z.number() }).parse(await handler(event)).statusCode;
    });
  },
};

const imported = async (name: RecipeName): Promise<unknown> => import(`../../client/recipes/${name}.mjs`);

function serverOf(serve: Serve): Server {
  const answer = async (request: IncomingMessage): Promise<number> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
    );
    return serve({ headers, body: Buffer.concat(chunks) });
  };
  return createServer((request, response) => {
    void answer(request)
      .catch(() => 500)
      .then((status) => response.writeHead(status).end());
  }).listen(0, '127.0.0.1');
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
}
