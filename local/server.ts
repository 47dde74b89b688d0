import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
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
  /** Absent: the server has no controls, and their paths are like every other. */
  readonly control?: Handler;
  readonly results: Handler;
  readonly portal: Pick<PortalFront, 'serves' | 'handle'>;
}

export interface ListenOptions {
  readonly port: number;
  /** The default is 127.0.0.1. */
  readonly host?: string;
  /** PEM. Without it the server speaks HTTP. */
  readonly tls?: { readonly cert: string; readonly key: string };
}

/** Listens, with port 0 on a free port. Rejects with EADDRINUSE and a message that names the port. */
export async function listen({ port, host, tls }: ListenOptions, onError: (error: unknown) => void) {
  const ready = Promise.withResolvers<Handler>();
  const take: Handler = async (incoming, outgoing) => {
    try {
      await (
        await ready.promise
      )(incoming, outgoing);
    } catch (error) {
      if (incoming.destroyed) return; // The client went away.
      onError(error);
      if (outgoing.headersSent) outgoing.destroy();
      else sendJson(outgoing, 500, { message: 'Internal Server Error' });
    }
  };
  const listener = (...both: Parameters<Handler>): void => void take(...both);
  const server = tls ? createSecureServer({ ...tls }, listener) : createServer(listener);
  // When the server closes an idle socket just as a client reuses it, the client sees a lost answer.
  server.keepAliveTimeout = 75_000;
  const bound = await listenOnLoopback(server, port, host).catch((error: unknown) => {
    if (!hasErrorCode(error, 'EADDRINUSE')) throw error;
    throw Object.assign(new Error(`Port ${port} is already in use.`, { cause: error }), {
      code: 'EADDRINUSE',
    });
  });
  let closed: Promise<void> | undefined;
  const end = (): Promise<void> => (closed ??= new Promise((resolve) => server.close(() => resolve())));
  return {
    port: bound,
    url: `http://127.0.0.1:${bound}`,
    /** From now on the handler answers. Requests that came before have waited for this. */
    serve: (handler: Handler): void => ready.resolve(handler),
    /** New connections get this certificate. Open ones go on with theirs. */
    renew: (pem: NonNullable<ListenOptions['tls']>): void => {
      if ('setSecureContext' in server) server.setSecureContext(pem);
    },
    /** Takes no new connections, and waits until the requests under way are answered, or for this long. */
    drain: async (millis: number): Promise<void> => {
      const ended = end().then(() => true);
      const isLate = (): boolean => performance.now() > until;
      const until = performance.now() + millis;
      while (!(await Promise.race([ended, sleep(50, false)])) && !isLate()) server.closeIdleConnections();
    },
    close: (): Promise<void> => {
      const ended = end();
      server.closeAllConnections();
      return ended;
    },
  };
}

/** Chooses the part of the service by the path of a request. */
export function routed({ api, restApis, control, results, portal }: ServerHandlers): Handler {
  return (incoming, outgoing) => {
    const { path } = targetOf(incoming);
    if (control && (path === localPath || path.startsWith(`${localPath}/`)))
      return control(incoming, outgoing);
    if (path.startsWith(resultsPath)) return results(incoming, outgoing);
    if (portal.serves(path)) return portal.handle(incoming, outgoing);
    const restApi = restApis.find(({ serves }) => serves(path));
    if (restApi) return restApi.handle(incoming, outgoing);
    return api(incoming, outgoing);
  };
}
