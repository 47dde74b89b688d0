/** A service for others in a process of its own, as a person starts it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';

const entry = fileURLToPath(new URL('../../bin/serve.ts', import.meta.url));

export const publicHost = 'pictures.test';
export const publicUrl = `https://${publicHost}`;

export interface Served {
  readonly child: ChildProcess;
  readonly port: number;
  /** Everything on standard output, a JSON object a line. */
  readonly lines: readonly Readonly<Record<string, unknown>>[];
  readonly exited: Promise<unknown[]>;
  /** What the terminal shows to the first owner. */
  readonly firstLink: () => string | undefined;
  readonly end: (signal?: NodeJS.Signals) => Promise<number | null>;
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address ? address.port : 0;
}

export interface StartedBy {
  /** The default is a free one. */
  readonly port?: number;
  /** Options of Node. */
  readonly execArgv?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * Resolves once the service is ready. Throws with its words when it ends before. The service makes no thumbnails,
 * which take more of a processor than all else of a creation, unless `more` asks for them.
 */
export async function startServe(
  folder: string,
  more: readonly string[] = [],
  url: string | null = publicUrl,
  { port: chosen, execArgv = [], env = {} }: StartedBy = {},
): Promise<Served> {
  const port = chosen ?? (await freePort());
  const named = url === null ? [] : ['--public-url', url];
  const words = [
    '--data',
    folder,
    '--listen',
    `127.0.0.1:${port}`,
    ...named,
    '--env',
    'THUMBNAILS=off',
    ...more,
  ];
  const child = spawn(process.execPath, [...execArgv, entry, ...words], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  });
  const lines: Readonly<Record<string, unknown>>[] = [];
  let [rest, complaints] = ['', ''];
  const exited = once(child, 'exit');
  await new Promise<void>((resolve, reject) => {
    child.stderr.on('data', (chunk: Buffer) => (complaints += chunk.toString()));
    child.stdout.on('data', (chunk: Buffer) => {
      const parts = (rest + chunk.toString()).split('\n');
      rest = parts.pop() ?? '';
      for (const part of parts) lines.push(JSON.parse(part) as Readonly<Record<string, unknown>>);
      if (lines.some(({ event }) => event === 'ready')) resolve();
    });
    exited.then(() => reject(new Error(complaints)), reject);
  });
  return {
    child,
    port,
    lines,
    exited,
    firstLink: () => /\S+\/portal\/first#\S+/.exec(complaints)?.[0],
    end: async (signal = 'SIGTERM') => {
      child.kill(signal);
      const [code] = (await exited) as [number | null];
      return code;
    },
  };
}

export interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** The address of this machine that the request comes from. */
  readonly from?: string;
}

/** Sends a request as a proxy does: to the port, under the public name. */
export async function ask(port: number, path: string, asked: Asked = {}) {
  const { method = 'GET', headers = {}, body, from = '127.0.0.1' } = asked;
  const sent = request({
    ...{ host: '127.0.0.1', port, path, method, localAddress: from },
    headers: { host: publicHost, ...headers },
  });
  sent.end(body);
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk as Buffer);
  const bytes = Buffer.concat(chunks);
  return { status: answer.statusCode ?? 0, headers: answer.headers, bytes, text: bytes.toString() };
}
