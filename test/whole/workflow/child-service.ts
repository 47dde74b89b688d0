/** The service in a process of its own, as a person starts it. A test can kill the process. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { connect } from '../../../admin/connect.ts';
import type { AccountId } from '../../../service/values/ids.ts';
import type { Place } from './creations.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));

export interface ChildService extends Place {
  readonly key: string;
  readonly accountId: AccountId;
  readonly localUrl: string;
  /** Sets the clock forward with POST /_local/clock, and returns the new time. */
  advance(seconds: number): Promise<string>;
  /** kill -9. */
  kill(): Promise<void>;
  /** Waits until the process has ended by itself, for example by a fault, and returns its exit code. */
  died(): Promise<number | null>;
  /** What the process has printed on its standard error. */
  complaints(): string;
  /** Sends a signal, waits for the end of the process and returns its exit code. */
  end(signal: 'SIGINT' | 'SIGTERM'): Promise<number | null>;
}

type ServiceProcess = ChildProcessByStdio<null, Readable, Readable>;

export function spawnLocal(...args: string[]): ServiceProcess {
  return spawn(process.execPath, ['bin/local.ts', '--json', ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Starts the service with files that cannot grow beyond so many half kilobytes, as on a disk that is full. */
export function spawnOnFullDisk(halfKilobytes: number): typeof spawnLocal {
  return (...args) =>
    spawn(
      'sh',
      [
        '-c',
        `ulimit -f ${halfKilobytes}; exec "$@"`,
        'sh',
        process.execPath,
        'bin/local.ts',
        '--json',
        ...args,
      ],
      { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] },
    );
}

/** Starts `npm start -- --json` on the folder and waits for its ready line. */
export async function startChild(
  folder: string,
  environment: Readonly<Record<string, string>> = {},
  spawnService = spawnLocal,
): Promise<ChildService> {
  const variables = Object.entries(environment).flatMap(([name, value]) => ['--env', `${name}=${value}`]);
  const child = spawnService('--data', folder, '--port', '0', ...variables);
  const complaints: string[] = [];
  child.stderr.on('data', (chunk: Buffer) => complaints.push(String(chunk)));
  const ready = await readyLine(child).catch((error: unknown) => {
    throw new Error(`it did not start: ${complaints.join('')}`, { cause: error });
  });
  const exited = once(child, 'exit') as Promise<[number | null]>;
  return {
    machine: { apiUrl: ready.api },
    operator: await connect({ data: folder }),
    key: ready.key,
    accountId: ready.account as AccountId,
    localUrl: ready.local,
    advance: async (seconds) => (await post(`${ready.local}/clock`, { advance_seconds: seconds })).now,
    kill: async () => {
      child.kill('SIGKILL');
      await exited;
    },
    died: async () => (await exited)[0],
    complaints: () => complaints.join(''),
    end: async (signal) => {
      child.kill(signal);
      const [code] = await exited;
      return code;
    },
  };
}

interface Ready {
  readonly event: string;
  readonly api: string;
  readonly key: string;
  readonly account: string;
  readonly local: string;
}

async function readyLine(child: ServiceProcess): Promise<Ready> {
  for await (const line of createInterface({ input: child.stdout })) {
    // The rest of the output is read too, because a full pipe would stop the service.
    child.stdout.resume();
    const ready = JSON.parse(line) as Ready;
    expect(ready.event).toBe('ready');
    return ready;
  }
  throw new Error('it ended without a line');
}

/** Sends to a control route. Throws unless the answer is 200. */
export async function post(url: string, body: object): Promise<{ now: string }> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(200);
  return (await response.json()) as { now: string };
}
