/** The bucket of a client behind a socket of this machine. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  type BucketFault,
  type BucketRequest,
  type ClientBucketOptions,
  createClientBucket,
} from './client-bucket.ts';

export type BucketServer = Awaited<ReturnType<typeof startBucketServer>>;

export async function startBucketServer(options: ClientBucketOptions) {
  const bucket = createClientBucket(options);
  const requests: (BucketRequest & { readonly at: number })[] = [];
  const faults: BucketFault[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request;
      const flat = Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [
          name,
          Array.isArray(value) ? value.join(',') : value,
        ]),
      );
      const asked = { method, path, headers: flat, body: Buffer.concat(chunks) };
      requests.push({ ...asked, at: options.now() });
      const answer = bucket.answer(asked, faults.shift());
      if (answer === 'silent') return;
      if (answer === 'closed') request.socket.destroy();
      else response.writeHead(answer.status, answer.headers).end(answer.body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    objects: bucket.objects,
    requests,
    /** The next requests meet these faults, one each. */
    fail: (...next: readonly BucketFault[]): void => void faults.push(...next),
    calm: (): void => void faults.splice(0),
    end: async (): Promise<void> => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
