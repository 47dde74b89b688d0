import { expect, it } from 'vitest';
import type { PagesServices } from '../../service/release/open.ts';
import { pageHeaders, type PageHeaders } from '../../service/release/page-files.ts';
import { publishPages } from '../../service/release/publish-pages.ts';
import { fakeLog } from '../api/fakes.ts';

interface Published {
  readonly services: PagesServices;
  readonly stored: [name: string, text: string, headers: PageHeaders][];
  readonly removed: string[];
  readonly answers: [url: string, answer: object][];
}

const files: Readonly<Record<string, string>> = {
  'index.html': '<script src="{base}app-0123456789.js"></script>',
  'app-0123456789.js': 'const base = "{base}";',
  'openapi.json': '{"servers":[{"url":"{api_url}"}]}',
};

/** @param refused the file that the bucket refuses */
function opened(refused?: string): Published {
  const [stored, answers]: [Published['stored'], Published['answers']] = [[], []];
  const removed: string[] = [];
  // S3 lists at most so many names at once.
  const lists = [['a.js', 'b.js'], ['index.html'], []];
  const services = {
    log: fakeLog(),
    bucket: 'pages',
    addresses: { portalUrl: 'http://127.0.0.1:1/portal/', apiUrl: 'http://127.0.0.1:1/api/public/v1' },
    files: {
      list: () => Promise.resolve(Object.keys(files)),
      read: (name: string) => Promise.resolve(Buffer.from(files[name] ?? '')),
    },
    store: {
      put: (name: string, bytes: Uint8Array, headers: PageHeaders) => {
        if (name === refused) return Promise.reject(new Error(`${name} is refused`));
        stored.push([name, Buffer.from(bytes).toString('utf8'), headers]);
        return Promise.resolve();
      },
      list: () => Promise.resolve(lists.shift() ?? []),
      remove: (name: string) => {
        if (name === refused) return Promise.reject(new Error(`${name} is refused`));
        removed.push(name);
        return Promise.resolve();
      },
    },
    answer: (url: string, answer: object) => {
      answers.push([url, answer]);
      return Promise.resolve();
    },
  } as unknown as PagesServices;
  return { services, stored, removed, answers };
}

const asked = (RequestType: string, Bucket = 'pages'): object => ({
  RequestType,
  ResponseURL: 'https://answer.example.com/signed',
  StackId: 'stack',
  RequestId: 'request',
  LogicalResourceId: 'Published',
  ResourceProperties: { Bucket },
});

it('The pages are stored after the files that they ask for, with the addresses of the deployment', async () => {
  const { services, stored, answers } = opened();
  await publishPages(asked('Update'), services);
  expect(stored.map(([name, text]) => [name, text])).toEqual([
    ['app-0123456789.js', 'const base = "{base}";'],
    ['openapi.json', '{"servers":[{"url":"http://127.0.0.1:1/api/public/v1"}]}'],
    ['index.html', '<script src="/portal/app-0123456789.js"></script>'],
  ]);
  expect(answers).toEqual([
    [
      'https://answer.example.com/signed',
      {
        StackId: 'stack',
        RequestId: 'request',
        LogicalResourceId: 'Published',
        PhysicalResourceId: 'pages',
        Status: 'SUCCESS',
        Reason: 'the pages are published',
      },
    ],
  ]);
});

it('A failure is answered, so that no deployment waits for its time limit', async () => {
  const { services, stored, answers } = opened('openapi.json');
  await publishPages(asked('Create'), services);
  expect(answers[0]?.[1]).toMatchObject({ Status: 'FAILED', Reason: 'openapi.json is refused' });
  expect(stored.map(([name]) => name)).not.toContain('index.html');
});

it('The deletion of the stack removes every page, because S3 deletes only an empty bucket', async () => {
  const { services, removed, answers } = opened();
  await publishPages(asked('Delete'), services);
  expect(removed).toEqual(['a.js', 'b.js', 'index.html']);
  expect(answers[0]?.[1]).toMatchObject({
    Status: 'SUCCESS',
    PhysicalResourceId: 'pages',
    Reason: 'the pages are removed',
  });
});

it('The deletion of a bucket that was replaced leaves the pages in the new bucket', async () => {
  const { services, removed, answers } = opened();
  await publishPages(asked('Delete', 'the bucket before'), services);
  expect(removed).toEqual([]);
  expect(answers[0]?.[1]).toMatchObject({ Status: 'SUCCESS' });
});

it('A page that cannot be removed fails the deletion, with the reason', async () => {
  const { services, answers } = opened('b.js');
  await publishPages(asked('Delete'), services);
  expect(answers[0]?.[1]).toMatchObject({ Status: 'FAILED', Reason: 'b.js is refused' });
});

it('A browser keeps only files whose names change with their content', () => {
  expect(pageHeaders('app-0123456789.css').cacheControl).toBe('public, max-age=31536000, immutable');
  expect(pageHeaders('index.html').cacheControl).toBe('no-cache');
  expect(pageHeaders('openapi.json').cacheControl).toBe('no-cache');
  expect(pageHeaders('client/darkroom-client.tgz').cacheControl).toBe('no-cache');
  expect(pageHeaders('favicon.svg').cacheControl).toBe('public, max-age=86400');
});

it('Each ending has its content type, and a file of another ending is refused', () => {
  const endings = ['html', 'js', 'css', 'svg', 'json', 'txt', 'tgz', 'sha256'];
  expect(endings.map((ending) => pageHeaders(`file.${ending}`).contentType)).toEqual([
    'text/html; charset=utf-8',
    'text/javascript; charset=utf-8',
    'text/css; charset=utf-8',
    'image/svg+xml',
    'application/json',
    'text/plain; charset=utf-8',
    'application/gzip',
    'text/plain; charset=utf-8',
  ]);
  expect(() => pageHeaders('page.exe')).toThrow('page.exe: no content type');
});
