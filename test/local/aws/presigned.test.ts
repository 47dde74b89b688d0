/** Presigned requests of the local S3, as the product signs them, and how the stand-in refuses changed ones. */
import { request as httpRequest } from 'node:http';
import { expect, test } from 'vitest';
import { createUploadTargets } from '../../../service/uploads/upload-targets.ts';
import type { AccountId, UploadId } from '../../../service/values/ids.ts';
import type { Upload } from '../../../service/uploads/upload.ts';
import type { AwsCall } from '../../../local/aws/aws-call.ts';
import { startEndpoint, startMillis, type Fixture } from './endpoint-fixture.ts';

const upload: Upload = {
  id: '019aa8f0-0000-7000-8000-00000000000a' as UploadId,
  accountId: 'Acc0unt001' as AccountId,
  contentType: 'image/png',
  bytes: 5,
  key: 'uploads/a.png',
  expiresAt: startMillis,
};

async function signedBy(fixture: Fixture, secretAccessKey = 'local'): Promise<string> {
  const access = {
    bucket: 'images',
    region: 'us-east-1',
    urlSuffix: 'amazonaws.com',
    endpoint: fixture.url,
    accessKeyId: 'Role',
  };
  return (await createUploadTargets({ ...access, secretAccessKey }).sign(upload, startMillis)).url;
}

type Sent = { readonly method?: string; readonly headers?: Record<string, string>; readonly body?: string };

async function send(
  url: string,
  { method = 'PUT', headers = {}, body = 'bytes' }: Sent = {},
): Promise<string> {
  const sent = { 'content-type': 'image/png', ...headers };
  const response = await fetch(url, { method, headers: sent, ...(method === 'PUT' && { body }) });
  return `${response.status} ${/<Code>(\w+)</.exec(await response.text())?.[1] ?? ''}`.trim();
}

test('A presigned PUT stores the bytes, as a call of the role that signed', async () => {
  const calls: AwsCall[] = [];
  const fixture = await startEndpoint({ authorize: (call) => void calls.push(call) });
  expect(await send(await signedBy(fixture))).toBe('200');
  expect(calls).toMatchObject([{ operation: 'PutObject', caller: 'Role', input: { Key: 'uploads/a.png' } }]);
  expect((await fixture.objectStore.read('images', 'uploads/a.png'))?.body.toString()).toBe('bytes');
});

test.each<[string, Sent]>([
  ['one byte more', { body: 'bytes!' }],
  ['one byte less', { body: 'byte' }],
  ['another type', { headers: { 'content-type': 'image/jpeg' } }],
  ['a longer type', { headers: { 'content-type': 'image/png; charset=utf-8' } }],
  ['another method', { method: 'DELETE' }],
])('A request with %s does not match its signature', async (_what, sent) => {
  const fixture = await startEndpoint();
  expect(await send(await signedBy(fixture), sent)).toBe('403 SignatureDoesNotMatch');
  expect(await fixture.objectStore.read('images', 'uploads/a.png')).toBeUndefined();
});

test('A request that names no length in advance is refused', async () => {
  const fixture = await startEndpoint();
  const url = await signedBy(fixture);
  const status = await new Promise((resolve, reject) => {
    const headers = { 'content-type': 'image/png', 'transfer-encoding': 'chunked' };
    const outgoing = httpRequest(url, { method: 'PUT', headers }, (incoming) => {
      incoming.resume();
      resolve(incoming.statusCode);
    });
    outgoing.on('error', reject);
    outgoing.end('bytes');
  });
  expect(status).toBe(403);
});

test.each<[string, (url: string) => string]>([
  ['another key', (url) => url.replace('uploads/a.png', 'uploads/b.png')],
  ['a key outside its folder', (url) => url.replace('uploads/a.png', 'results/a.png')],
  ['another bucket', (url) => url.replace('/images/', '/others/')],
  ['a longer validity', (url) => url.replace('Expires=900', 'Expires=9000')],
  ['another role', (url) => url.replace('Credential=Role', 'Credential=operator')],
  ['another signature', (url) => url.replace(/Signature=\w/, 'Signature=x')],
])('An address that was changed to %s does not match its signature', async (_what, change) => {
  const fixture = await startEndpoint();
  expect(await send(change(await signedBy(fixture)))).toBe('403 SignatureDoesNotMatch');
});

test('A signature with another secret key does not match', async () => {
  const fixture = await startEndpoint();
  expect(await send(await signedBy(fixture, 'guessed'))).toBe('403 SignatureDoesNotMatch');
});

test('A header of S3 that was not signed is refused', async () => {
  const fixture = await startEndpoint();
  const headers = { 'x-amz-acl': 'public-read' };
  expect(await send(await signedBy(fixture), { headers })).toBe('403 AccessDenied');
});

test.each<[string, (url: string) => string]>([
  ['no validity', (url) => url.replace('X-Amz-Expires=900&', '')],
  ['more than a week', (url) => url.replace('Expires=900', 'Expires=604801')],
  ['another region', (url) => url.replace('us-east-1', 'eu-west-1')],
  ['another service', (url) => url.replace('%2Fs3%2F', '%2Fsts%2F')],
  ['no date', (url) => url.replace(/X-Amz-Date=\w+/, 'X-Amz-Date=now')],
  ['another algorithm', (url) => url.replace('HMAC-SHA256', 'HMAC-SHA1')],
])('An address with %s is malformed', async (_what, change) => {
  const fixture = await startEndpoint();
  expect(await send(change(await signedBy(fixture)))).toBe('400 AuthorizationQueryParametersError');
});

test('An address is valid for its time by the clock of the stand-in, and not long before it', async () => {
  const fixture = await startEndpoint();
  const url = await signedBy(fixture);
  const at = async (seconds: number): Promise<string> => {
    fixture.clock.nowMillis = startMillis + seconds * 1000;
    return send(url);
  };
  expect([await at(-901), await at(-900), await at(900), await at(900.001)]).toEqual([
    '403 AccessDenied',
    '200',
    '200',
    '403 AccessDenied',
  ]);
});

const rule = { methods: ['PUT'], headers: ['content-type'], maxAgeSeconds: 60 };

async function preflight(
  origins: readonly string[],
  headers: Record<string, string>,
): Promise<{ status: number; headers: Headers }> {
  const corsRules = (bucket: string) => (bucket === 'images' ? [{ ...rule, origins }] : []);
  const fixture = await startEndpoint({ corsRules });
  const { status, headers: got } = await fetch(await signedBy(fixture), { method: 'OPTIONS', headers });
  return { status, headers: got };
}

const asked = {
  origin: 'https://app.example.com',
  'access-control-request-method': 'PUT',
  'access-control-request-headers': 'Content-Type',
};

test.each([
  ['every origin', ['*'], '*'],
  ['this origin', ['https://other.test', 'https://app.example.com'], 'https://app.example.com'],
  ['origins like this one', ['https://*.example.com'], 'https://app.example.com'],
])('A preflight is allowed by a rule for %s', async (_what, origins, allowed) => {
  const { status, headers } = await preflight(origins, asked);
  expect([status, headers.get('access-control-allow-origin'), headers.get('access-control-max-age')]).toEqual(
    [200, allowed, '60'],
  );
  expect(headers.get('access-control-allow-methods')).toBe('PUT');
  expect(headers.get('access-control-allow-headers')).toBe('content-type');
});

test.each<[string, readonly string[], Record<string, string>]>([
  ['of another origin', ['https://other.test'], asked],
  ['of a longer origin', ['https://app.example.co'], asked],
  ['for another method', ['*'], { ...asked, 'access-control-request-method': 'DELETE' }],
  ['for another header', ['*'], { ...asked, 'access-control-request-headers': 'authorization' }],
  ['without a rule', [], asked],
])('A preflight %s is refused', async (_what, origins, headers) => {
  const refused = await preflight(origins, headers);
  expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([403, null]);
});

test('A page of an allowed origin may read the answer to its PUT, also a refusal', async () => {
  const fixture = await startEndpoint({ corsRules: () => [{ ...rule, origins: ['*'] }] });
  const url = await signedBy(fixture);
  for (const body of ['bytes', 'more bytes']) {
    const headers = { 'content-type': 'image/png', origin: 'https://app.example.com' };
    const response = await fetch(url, { method: 'PUT', headers, body });
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
  }
});
