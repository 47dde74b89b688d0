import { createServer, request as httpRequest, type Server } from 'node:http';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { createFaults } from '../../local/aws/faults.ts';
import { createControl } from '../../local/control/control.ts';
import { inboxPage, type ReceivedWebhook } from '../../local/control/inbox-page.ts';
import { type Inbox, type InboxOptions, openInbox } from '../../local/control/inbox.ts';
import { listenOnLoopback } from '../../local/http.ts';
import { newFolder } from './machine-fixture.ts';

const refusalSchema = z.object({
  error: z.object({
    code: z.string(),
    message: z.string(),
    details: z.object({ errors: z.array(z.object({ field: z.string(), message: z.string() })) }),
  }),
});
const listSchema = z.object({ data: z.array(z.looseObject({ id: z.string().nullable() })) });

describe('the control routes', () => {
  const folder = newFolder(afterAll);
  const inboxOptions: InboxOptions = {
    file: path.join(folder, 'inbox.jsonl'),
    now: () => 0,
    verify: ({ headers }) =>
      Promise.resolve({ verified: headers['x-webhook-signature-256'] === 'good', detail: 'looked at' }),
  };
  let inbox: Inbox;
  let server: Server;
  let port = 0;
  let url = '';
  let advanced: number[] = [];
  const crashes: string[][] = [];
  beforeAll(async () => {
    inbox = openInbox(inboxOptions);
    const handle = createControl({
      inbox,
      topics: { mails: () => [], confirm: () => false, unsubscribe: () => false },
      faults: createFaults(),
      state: () => ({ now: 'then' }),
      publication: { answer: () => Promise.reject(new Error('nobody publishes')) },
      issuer: () => Promise.reject(new Error('nobody signs in')),
      stripe: () => Promise.reject(new Error('nobody pays')),
      prove: (challenge) => `proof of ${challenge}`,
      crash: (part, match) => {
        crashes.push([part, match]);
        return 3;
      },
      advance: (seconds) => {
        advanced.push(seconds);
        return Promise.resolve({ now: 60_000, steps: 2 });
      },
    });
    server = createServer((incoming, outgoing) => void handle(incoming, outgoing));
    port = await listenOnLoopback(server);
    url = `http://127.0.0.1:${port}/_local`;
  });
  afterAll(() => {
    server.closeAllConnections();
    inbox.close();
  });
  const post = (where: string, body: string, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${url}${where}`, { method: 'POST', body, headers, redirect: 'manual' });

  it('The control routes advance the clock by whole or decimal seconds', async () => {
    advanced = [];
    const response = await post('/clock', '{"advance_seconds":60}');
    expect([response.status, await response.json()]).toEqual([
      200,
      { now: '1970-01-01T00:01:00.000Z', advanced_seconds: 60, steps: 2 },
    ]);
    await post('/clock', '{"advance_seconds":0.5}');
    expect(advanced).toEqual([60, 0.5]);
  });

  it.each([
    ['{"advance_seconds":0}', 'advance_seconds', /greater than 0/],
    ['{"advance_seconds":-1}', 'advance_seconds', /greater than 0/],
    ['{"advance_seconds":34560001}', 'advance_seconds', /at most 400 days/],
    ['{"advance_seconds":"60"}', 'advance_seconds', /number/],
    ['{"advance_seconds":1,"x":1}', '', /x/],
    ['{}', 'advance_seconds', /number/],
    ['nonsense', '', /object/],
    ['', '', /object/],
  ])(
    'The control routes refuse to advance with the body %s and give the reason',
    async (body, field, message) => {
      advanced = [];
      const response = await post('/clock', body);
      const { error } = refusalSchema.parse(await response.json());
      expect([response.status, error.code]).toEqual([400, 'ERR_INVALID_REQUEST']);
      expect(error.message).toMatch(message);
      expect(error.details.errors[0]?.field).toBe(field);
      expect(error.details.errors[0]?.message).toMatch(message);
      expect(advanced).toEqual([]);
    },
  );

  it('The control routes let invocations crash, by function and event, and refuse an unknown field', async () => {
    const response = await post('/crashes', '{"function":"RenderImage","match":"id"}');
    expect([response.status, await response.json()]).toEqual([200, { crashed: 3 }]);
    expect((await post('/crashes', '{"function":"RenderImage"}')).status).toBe(200);
    expect((await post('/crashes', '{"function":"RenderImage","event":"id"}')).status).toBe(400);
    expect((await post('/crashes', '{"match":"id"}')).status).toBe(400);
    expect(crashes).toEqual([
      ['RenderImage', 'id'],
      ['RenderImage', ''],
    ]);
  });

  it('The control routes set, list and clear faults', async () => {
    expect((await post('/faults', '{"call":"dynamodb:PutItem","error":"nonsense"}')).status).toBe(400);
    expect(
      (await post('/faults', '{"call":"dynamodb:TransactWriteItems","error":"TransactionConflict"}')).status,
    ).toBe(200);
    expect(await (await fetch(`${url}/faults`)).json()).toMatchObject({
      data: [{ call: 'dynamodb:TransactWriteItems', struck: 0 }],
    });
    expect(await (await fetch(`${url}/faults`, { method: 'DELETE' })).json()).toEqual({ data: [] });
  });

  it('The control routes answer /_local/state, and 404 for unknown paths and methods', async () => {
    expect(await (await fetch(`${url}/state`)).json()).toEqual({ now: 'then' });
    expect((await fetch(`${url}/nothing`)).status).toBe(404);
    expect((await fetch(`${url}/clock`)).status).toBe(404);
  });

  it.each([
    ['evil.example', undefined, 403],
    ['127.0.0.1.evil.example', undefined, 403],
    ['127.0.0.9:80', undefined, 200],
    ['localhost:1', 'https://evil.example', 403],
    ['localhost:1', 'http://localhost:1', 200],
  ])(
    'The control routes answer a request with host %s and origin %s with %i',
    async (host, origin, status) => {
      const answered = await new Promise((resolve, reject) => {
        const headers = { host, ...(origin === undefined ? {} : { origin }) };
        httpRequest({ port, host: '127.0.0.1', path: '/_local/state', headers, agent: false }, (incoming) => {
          incoming.resume();
          resolve(incoming.statusCode);
        })
          .on('error', reject)
          .end();
      });
      expect(answered).toBe(status);
    },
  );

  it('The inbox receives webhooks at any sub-path, lists the newest first, and keeps them over a restart', async () => {
    await post('/inbox', '{"event":"creation.failed","id":"a"}');
    await post(
      '/inbox/name',
      '{"event":"creation.completed","id":"b","status":"completed","result_urls":["http://x/1.png",5]}',
      {
        'X-Webhook-Event': 'creation.completed',
        'X-Webhook-Delivery-ID': 'd1',
        'X-Webhook-Attempt': '2',
        'X-Webhook-Signature-256': 'good',
      },
    );
    await post('/inbox', 'no json');
    const read = async (from: string) => listSchema.parse(await (await fetch(from)).json()).data;
    const data = await read(`${url}/inbox`);
    expect(data.map(({ id }) => id)).toEqual([null, 'b', 'a']);
    expect(data[1]).toMatchObject({
      received_at: '1970-01-01T00:00:00.000Z',
      path: '/name',
      event: 'creation.completed',
      delivery_id: 'd1',
      attempt: 2,
      status: 'completed',
      verified: true,
      verification: 'looked at',
      image_urls: ['http://x/1.png'],
      body: { id: 'b' },
    });
    expect(data[0]).toMatchObject({
      verified: false,
      event: null,
      attempt: null,
      body: null,
      raw_body: 'no json',
    });

    const again = openInbox(inboxOptions);
    const other = createServer((incoming, outgoing) => void again.handle(incoming, outgoing));
    const otherPort = await listenOnLoopback(other);
    expect(await read(`http://127.0.0.1:${otherPort}/_local/inbox`)).toEqual(data);
    other.close();
    again.close();
  });

  it('The inbox answers a webhook with the status, redirect or delay that its query asks for', async () => {
    expect((await post('/inbox?status=500', '{}')).status).toBe(500);
    expect((await post('/inbox?status=410', '{}')).status).toBe(410);
    const redirect = await post('/inbox?redirect=http%3A%2F%2F127.0.0.1%3A1%2F', '{}');
    expect([redirect.status, redirect.headers.get('location')]).toEqual([302, 'http://127.0.0.1:1/']);
    const started = performance.now();
    expect((await post('/inbox?delay=0.2', '{}')).status).toBe(200);
    expect(performance.now() - started).toBeGreaterThan(190);
    await expect(
      fetch(`${url}/inbox?hang=1`, { method: 'POST', body: '{}', signal: AbortSignal.timeout(200) }),
    ).rejects.toThrow();
  });

  it('The inbox is a page when a browser asks for it', async () => {
    const response = await fetch(`${url}/inbox`, { headers: { accept: 'text/html,application/xhtml+xml' } });
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(await response.text()).toContain('signature verified');
  });
});

describe('the inbox page', () => {
  const hostile = '</script><img src=x onerror=alert(1)>"\'&';
  const webhook: ReceivedWebhook = {
    received_at: hostile,
    path: hostile,
    event: hostile,
    id: hostile,
    delivery_id: hostile,
    attempt: 1,
    status: hostile,
    verified: true,
    verification: hostile,
    image_urls: [`http://x/"onload="alert(1)`],
    headers: { [hostile]: hostile },
    body: { [hostile]: hostile },
    raw_body: hostile,
  };

  it('The inbox page escapes every value of a webhook', () => {
    const page = inboxPage([webhook], 0);
    expect(page).not.toContain('<img src=x');
    expect(page).not.toContain('"onload="');
    expect(page.match(/<\/script>/g)).toHaveLength(1);
    expect(page).toContain('&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;');
  });

  it("The inbox page shows only web images, and the service's own images from its present address", () => {
    const imageOf = (url: string): string | undefined =>
      /<img src="([^"]*)"/.exec(inboxPage([{ ...webhook, image_urls: [url] }], 0))?.[1];
    expect(imageOf('javascript:alert(1)')).toBeUndefined();
    expect(imageOf('no url')).toBeUndefined();
    expect(imageOf('https://cdn.example/a.png')).toBe('https://cdn.example/a.png');
    expect(imageOf('http://127.0.0.1:4000/_results/a.png')).toBe('/_results/a.png');
  });

  it('The inbox page loads no resource from another address', () => {
    expect(inboxPage([], 0)).not.toMatch(/(src|href)="(https?:)?\/\//);
  });
});
