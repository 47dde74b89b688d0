import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { localPath } from './control/control.ts';
import { hasErrorCode } from './disk.ts';
import { resultsPath } from './front/objects.ts';
import type { PortalFront } from './front/portal-front.ts';
import type { RestApi } from './gateway/rest-api.ts';
import { type Handler, listenOnLoopback, sendJson, targetOf } from './http.ts';

/** The handler for each part of the server's paths. */
export interface ServerHandlers {
  readonly api: Handler;
  /** The APIs that stream. Each has the paths below its stage. */
  readonly restApis: readonly RestApi[];
  readonly control: Handler;
  readonly results: Handler;
  readonly portal: Pick<PortalFront, 'serves' | 'handle'>;
}

export type Server = Awaited<ReturnType<typeof listen>>;

/** Listens on 127.0.0.1, with port 0 on a free port. Rejects with EADDRINUSE and a message that names the port. */
export async function listen(port: number, onError: (error: unknown) => void) {
  const ready = Promise.withResolvers<ServerHandlers>();
  const server = createServer((incoming, outgoing) => {
    answer(ready.promise, incoming, outgoing).catch((error: unknown) => {
      if (incoming.destroyed) return; // The client went away.
      onError(error);
      if (outgoing.headersSent) outgoing.destroy();
      else sendJson(outgoing, 500, { message: 'Internal Server Error' });
    });
  });
  // When the server closes an idle socket just as a client reuses it, the client sees a lost answer.
  server.keepAliveTimeout = 75_000;
  const bound = await listenOnLoopback(server, port).catch((error: unknown) => {
    if (!hasErrorCode(error, 'EADDRINUSE')) throw error;
    throw Object.assign(new Error(`Port ${port} is already in use.`, { cause: error }), {
      code: 'EADDRINUSE',
    });
  });
  return {
    port: bound,
    url: `http://127.0.0.1:${bound}`,
    /** From now on the handlers answer. Requests that came before have waited for this. */
    serve: (handlers: ServerHandlers): void => ready.resolve(handlers),
    close: (): Promise<void> =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(
  ready: Promise<ServerHandlers>,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const { api, restApis, control, results, portal } = await ready;
  const { path } = targetOf(incoming);
  if (path === localPath || path.startsWith(`${localPath}/`)) return control(incoming, outgoing);
  if (path.startsWith(resultsPath)) return results(incoming, outgoing);
  if (portal.serves(path)) return portal.handle(incoming, outgoing);
  const restApi = restApis.find(({ serves }) => serves(path));
  if (restApi) return restApi.handle(incoming, outgoing);
  return api(incoming, outgoing);
}
