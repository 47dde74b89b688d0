/** The listener of a service for others: what it answers itself, and what it lets through to the parts of the service. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { discardBody, type Door, type Handler, sendText, targetOf } from './http.ts';
import { localPath } from './control/control.ts';
import type { ListenOptions } from './server.ts';
import { noteViewer, type TrustedProxies } from './viewer.ts';

/** A service for others, instead of the test machine with its controls. */
export interface PublicService extends Required<Pick<ListenOptions, 'host'>>, Pick<ListenOptions, 'tls'> {
  /** The origin under which clients reach the service. Absent: the address of the listener. */
  readonly url?: string;
  readonly trusted: TrustedProxies;
  /** Doors of the service that no part of the template has. */
  readonly door?: Door;
  /** Called after each answer. The part of a path is its first segment. */
  readonly onAnswer?: (answer: {
    readonly part: string;
    readonly status: number;
    readonly millis: number;
  }) => void;
}

/** The origin of the service, without a slash at its end. */
export function publicUrlOf({ url, host, tls }: PublicService, port: number): string {
  const name = host.includes(':') ? `[${host}]` : host;
  return url ?? new URL(`${tls ? 'https' : 'http'}://${name}:${port}`).origin;
}

export interface PublicDoorOptions extends Pick<PublicService, 'onAnswer'> {
  readonly url: string;
  readonly trusted: TrustedProxies;
  /** Whether the service takes new work. */
  readonly isReady: () => boolean;
  /** In the order in which they are tried. */
  readonly doors: readonly Door[];
  readonly rest: Handler;
}

/** Answers /healthz and /readyz under every name, and everything else only under the public one. */
export function createPublicDoor(options: PublicDoorOptions): Handler {
  const { url, trusted, isReady, doors, rest, onAnswer } = options;
  const { host, protocol } = new URL(url);
  const wrongHost = `This service answers as ${host} only. A proxy in front of it must pass on the header Host.`;
  /** What the door itself says to a request. */
  const saidTo = (incoming: IncomingMessage, path: string): readonly [number, string] | undefined => {
    if (path === '/healthz') return [200, 'ok'];
    if (path === '/readyz') return isReady() ? [200, 'ready'] : [503, 'not ready'];
    if (hostOf(incoming, protocol) !== host) return [421, wrongHost];
    // The controls of the owner have an address of their own.
    return path === localPath || path.startsWith(`${localPath}/`) ? [404, 'Not Found'] : undefined;
  };
  return (incoming, outgoing) => {
    const { path } = targetOf(incoming);
    noteViewer(incoming, trusted, protocol.replace(':', ''));
    if (onAnswer) timed(path, outgoing, onAnswer);
    const said = saidTo(incoming, path);
    if (said) {
      discardBody(incoming, outgoing, () => sendText(outgoing, said[0], 'text/plain', `${said[1]}\n`));
      return undefined;
    }
    return (doors.find(({ serves }) => serves(incoming))?.handle ?? rest)(incoming, outgoing);
  };
}

/** The name of the header, without the port that the protocol has anyway. */
function hostOf({ headers }: IncomingMessage, protocol: string): string {
  return URL.parse(`${protocol}//${headers.host ?? ''}`)?.host ?? '';
}

function timed(path: string, outgoing: ServerResponse, tell: NonNullable<PublicService['onAnswer']>): void {
  const began = performance.now();
  const part = path.split('/', 2)[1] ?? '';
  outgoing.once('close', () =>
    tell({ part, status: outgoing.statusCode, millis: performance.now() - began }),
  );
}
