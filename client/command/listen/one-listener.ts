/**
 * Lets one listener at a time use a cursor: two would move it past events that the other has not forwarded.
 * The lock is a socket, so it ends with its process, however that ends.
 */
import { connect, createServer } from 'node:net';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';

export interface Held {
  release(): Promise<void>;
}

/** Undefined when another process holds the name. */
export async function holdAlone(name: string): Promise<Held | undefined> {
  const path = process.platform === 'win32' ? `\\\\.\\pipe\\${name}` : join(tmpdir(), `${name}.sock`);
  const held = await tryHold(path);
  if (held || (await answers(path))) return held;
  // The socket of a killed process still exists, but does not answer.
  await rm(path, { force: true });
  return tryHold(path);
}

async function tryHold(path: string): Promise<Held | undefined> {
  const server = createServer((socket) => socket.destroy());
  try {
    server.listen(path);
    await once(server, 'listening');
  } catch {
    return undefined;
  }
  // The lock alone keeps no process alive.
  server.unref();
  return {
    release: async () => {
      server.close();
      await once(server, 'close');
    },
  };
}

async function answers(path: string): Promise<boolean> {
  const socket = connect(path);
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
