/** The service as a person starts it: a process of its own, always on the same port and folder, which is killed. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { connect } from '../../admin/connect.ts';
import type { OperatorServices } from '../../admin/services.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

export interface RunningProcess {
  readonly operator: OperatorServices;
  /** Sets the clock forward; what falls due meanwhile is done at its own instant. */
  readonly advance: (seconds: number) => Promise<void>;
  /** kill -9. */
  readonly kill: () => Promise<void>;
}

/** Starts it and waits for its ready line. */
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

/** A port that is free now, to be the service's through all its lives. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
