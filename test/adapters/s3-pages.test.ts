import { describe, expect, it } from 'vitest';
import { createPageStore } from '../../adapters/s3-pages.ts';
import { recordingServer } from './recording-server.ts';

const server = await recordingServer();
const store = createPageStore({
  bucket: 'pages',
  region: 'eu-central-1',
  urlSuffix: 'amazonaws.com',
  accessKeyId: 'AKID',
  secretAccessKey: 'secret',
  endpoint: server.url().replace(/\/$/, ''),
});

describe('the bucket of the pages', () => {
  it('A page is put, listed and removed under its name', async () => {
    server.answerBy((request, response) => {
      response.end(
        request.method === 'GET'
          ? '<ListBucketResult><Contents><Key>index.html</Key></Contents><Contents><Key>app-01.js</Key></Contents></ListBucketResult>'
          : '',
      );
    });
    await store.put('index.html', Buffer.from('text'), {
      contentType: 'text/html',
      cacheControl: 'no-cache',
    });
    expect(await store.list()).toEqual(['index.html', 'app-01.js']);
    await store.remove('index.html');
    expect(server.received.map(({ line }) => line)).toEqual([
      'PUT /pages/index.html',
      'GET /pages?list-type=2',
      'DELETE /pages/index.html',
    ]);
  });

  it('A refusal is thrown with the status and the page', async () => {
    server.answerBy((_request, response) => {
      response.writeHead(403).end('<Error/>');
    });
    await expect(store.remove('index.html')).rejects.toThrow(
      'the bucket of the pages answered 403 to DELETE index.html',
    );
  });
});
