/** Amazon DynamoDB Local, if Java and its jar are installed. It is the only engine here that Amazon wrote. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type AddressInfo, createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export interface DynamoDbLocal {
  readonly endpoint: string;
  readonly end: () => Promise<void>;
}

const howToGetIt =
  'To run it, install Java, then: npm install --prefix /tmp/ddb --ignore-scripts amplify-dynamodb-simulator; export DYNAMODB_LOCAL_HOME=/tmp/ddb/node_modules/amplify-dynamodb-simulator/emulator';

/** The folder of the jar, or the reason why there is none, with the way to get it. */
export function findDynamoDbLocal(): { readonly folder: string } | { readonly missing: string } {
  const folder = process.env['DYNAMODB_LOCAL_HOME'] ?? folderOfPackage();
  if (folder === undefined) return { missing: `DYNAMODB_LOCAL_HOME names no folder. ${howToGetIt}` };
  if (!existsSync(join(folder, 'DynamoDBLocal.jar')))
    return { missing: `there is no DynamoDBLocal.jar in ${folder}. ${howToGetIt}` };
  return spawnSync('java', ['-version']).status === 0
    ? { folder }
    : { missing: `there is no Java. ${howToGetIt}` };
}

/** It is no dependency of this project, and it is used only if somebody installed it. */
function folderOfPackage(): string | undefined {
  try {
    return join(
      dirname(createRequire(import.meta.url).resolve('amplify-dynamodb-simulator/package.json')),
      'emulator',
    );
  } catch {
    return undefined;
  }
}

const startMillis = 20_000;

/** Starts it in memory, on a free port of this machine. */
export async function startDynamoDbLocal(folder: string): Promise<DynamoDbLocal> {
  const port = await freePort();
  const child = spawn(
    'java',
    [
      `-Djava.library.path=${join(folder, 'DynamoDBLocal_lib')}`,
      '-jar',
      'DynamoDBLocal.jar',
      '-inMemory',
      '-sharedDb',
      '-disableTelemetry',
      '-port',
      String(port),
    ],
    { cwd: folder, stdio: 'ignore' },
  );
  const endpoint = `http://127.0.0.1:${port}`;
  const exited = once(child, 'exit');
  const end = async (): Promise<void> => {
    child.kill('SIGKILL');
    await exited;
  };
  const until = performance.now() + startMillis;
  for (;;) {
    await sleep(100);
    if (
      await fetch(endpoint).then(
        () => true,
        () => false,
      )
    )
      return { endpoint, end };
    if (child.exitCode !== null || performance.now() > until) {
      await end();
      throw new Error(`DynamoDB Local did not start in ${folder}`);
    }
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
