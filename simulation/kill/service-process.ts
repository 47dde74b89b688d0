/** Runs the service in a process of its own, as a person starts it, so that it can be killed. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { connect } from '../../admin/connect.ts';
import type { OperatorServices } from '../../admin/services.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

export interface RunningProcess {
  readonly operator: OperatorServices;
  /** Sets the clock forward. Everything that falls due on the way happens at its own instant. */
  readonly advance: (seconds: number) => Promise<void>;
  /** Kills the process with SIGKILL. */
  readonly kill: () => Promise<void>;
}

/** Starts the service and waits for its ready line. */
export async function startProcess(folder: string, port: number): Promise<RunningProcess> {
  const child = spawn(
    process.execPath,
    ['bin/local.ts', '--json', '--data', folder, '--port', String(port)],
    { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const complaints: string[] = [];
  child.stderr.on('data', (chunk: Buffer) => complaints.push(String(chunk)));
  const exited = once(child, 'exit');
  const lines = createInterface({ input: child.stdout });
  const first = (await Promise.race([once(lines, 'line'), exited])) as [string];
  if (typeof first[0] !== 'string' || !first[0].startsWith('{'))
    throw new Error(`the service did not start: ${complaints.join('')}`);
  const { local } = JSON.parse(first[0]) as { local: string };
  return {
    operator: await connect({ data: folder }),
    advance: async (seconds) => {
      const response = await fetch(`${local}/clock`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ advance_seconds: seconds }),
      });
      if (response.status !== 200) throw new Error(`the clock was not set: ${await response.text()}`);
    },
    kill: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

/** Returns a port that is free now. The service uses the same port in all rounds. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  const { port } = address;
  server.close();
  await once(server, 'close');
  return port;
}
