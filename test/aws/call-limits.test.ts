import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { afterEach, describe, expect, it } from 'vitest';
import { callLimits } from '../../service/aws/call-limits.ts';

const servers: Server[] = [];
const sockets = new Set<Socket>();
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await Promise.all(servers.splice(0).map((server) => new Promise((done) => server.close(done))));
});

/**
 * A service that handles each request as the test says. It counts connections, of which each try has one: a busy
 * machine can end a try before its request arrives.
 */
async function service(
  behave: (socket: Socket) => void,
): Promise<{ readonly endpoint: string; readonly asked: () => number }> {
  let asked = 0;
  const server = createServer((socket) => {
    asked += 1;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('data', () => {
      behave(socket);
    });
  });
  servers.push(server.listen(0, '127.0.0.1'));
  await once(server, 'listening');
  return { endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked: () => asked };
}

const given = { region: 'us-east-1', credentials: { accessKeyId: 'id', secretAccessKey: 'secret' } };

describe('A call of the AWS SDK', () => {
  it.each<[string, (socket: Socket) => void]>([
    ['gets no answer', () => undefined],
    [
      'gets the head of an answer and no body',
      (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{'),
    ],
  ])('A call that %s is tried three times, and each try ends after its time limit', async (_how, behave) => {
    const { endpoint, asked } = await service(behave);
    const client = new DynamoDBClient({ ...given, endpoint, ...callLimits(40) });
    await expect(client.send(new ListTablesCommand())).rejects.toThrow();
    // The last connection can be noticed after its try has ended.
    await expect.poll(asked).toBe(3);
    client.destroy();
  });

  it('A call that is aborted ends at once and is not sent again', async () => {
    const stop = new AbortController();
    const { endpoint, asked } = await service(() => {
      stop.abort();
    });
    const client = new DynamoDBClient({ ...given, endpoint, ...callLimits() });
    await expect(client.send(new ListTablesCommand(), { abortSignal: stop.signal })).rejects.toMatchObject({
      name: 'AbortError',
    });
    expect(asked()).toBe(1);
    client.destroy();
  });

  it('A try has a limit of 5 s, and it fails then instead of logging a warning', async () => {
    const client = new DynamoDBClient({ ...given, ...callLimits() });
    const handler = client.config.requestHandler as unknown as { configProvider: Promise<object> };
    expect(await handler.configProvider).toMatchObject({
      connectionTimeout: 3_000,
      requestTimeout: 5_000,
      socketTimeout: 5_000,
      throwOnRequestTimeout: true,
    });
  });
});

describe("The code in AWS and the operator's command", () => {
  it('Each client of DynamoDB, Step Functions and Secrets Manager has time limits', () => {
    const files = globSync('{service,admin,functions,bin}/**/*.ts', {
      cwd: new URL('../../', import.meta.url),
      exclude: ['admin/preflight/**'],
    });
    const clients = files.flatMap((file) => {
      const text = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
      // Settings with a name are looked up in the file: `const name = { ...callLimits(), … }`.
      const hasLimits = (settings: string): boolean =>
        settings === 'callLimits()' || text.includes(`const ${settings} = { ...callLimits()`);
      return [...text.matchAll(/new (?:DynamoDB|SFN|SecretsManager)Client\(([\w()]*)\)/g)].map(
        ([, settings = '']) => ({ file, hasLimits: hasLimits(settings) }),
      );
    });
    expect(clients).toHaveLength(6);
    expect(clients.filter(({ hasLimits }) => !hasLimits)).toEqual([]);
  });
});
