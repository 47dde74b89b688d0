/** Results whose addresses are signed, at every door, and what opens them. */
import { afterAll, describe, expect, it } from 'vitest';
import { everyAnswer } from './every-answer.ts';
import { signedPrefix } from '../../service/contract/limits.ts';
import { portalOf } from '../fixtures/portal.ts';
import { type Answer, type Client, startTestService } from '../fixtures/service.ts';
import { generations, type ToolResult } from '../mcp/clients.ts';
import { recordOf, settled, submit } from './workflow/creations.ts';

const service = await startTestService({ environment: { THUMBNAILS: 'on' } });
afterAll(async () => {
  expect(await service.audit()).toEqual([]);
  await service.end();
});

const { operator, machine } = service;
const lake = { model: 'sandbox-sketch', prompt: 'a lake' };
/** Longer than a function keeps the key that it has read. */
const keptSeconds = 6 * 60;

async function signing(minutes?: number): Promise<Client> {
  const client = await service.client({ postRate: '1000', getRate: '1000' });
  await operator.accounts.change(client.account.id, {
    results: 'signed',
    ...(minutes !== undefined && { resultsMinutes: minutes }),
  });
  return client;
}

async function completed(client: Client, more: object = {}): Promise<string> {
  const id = await submit(service, client.key, { ...lake, ...more });
  await service.ended(id);
  return id;
}

const show = (id: string, { key }: Client): Promise<Answer> => service.send(`/creations/${id}`, { key });
async function addressOf(id: string, client: Client): Promise<string> {
  // A creation can be polled once a second.
  service.jump(2);
  return ((await show(id, client)).body as { result_urls: string[] }).result_urls[0] ?? '';
}
async function opened(address: string): Promise<number> {
  const response = await fetch(address);
  await response.arrayBuffer();
  return response.status;
}
const generated = (key: string, format: 'url' | 'b64_json'): Promise<Response> =>
  fetch(`${machine.openaiUrl}/images/generations`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...lake, response_format: format }),
  });
/** Seconds from now until the address ends. */
const lifeOf = (address: string): number =>
  Number(new URL(address).searchParams.get('Expires')) - operator.clock.now() / 1_000;
const signedForm = /\/results\/signed\/[\w-]{32}(-\d+)?\.\w+\?Expires=\d+&Signature=[\w~-]+&Key-Pair-Id=\w+$/;

describe('an account that chose signed addresses', () => {
  it('Every door gives an address that opens the image, and each reading makes it anew', async () => {
    const client = await signing(5);
    const { key, account } = client;
    const { next_cursor: cursor } = (await service.send('/events', { key })).body as { next_cursor: string };
    // Every host shows a JPEG, so the tool gives it.
    const jpeg = { output_format: 'jpeg' };
    const id = await completed(client, { ...jpeg, webhook_url: machine.inboxUrl });
    await machine.advance(1);
    await settled(service, id);
    await expect.poll(async () => (await recordOf(service, id)).colours).toBeDefined();
    const record = await recordOf(service, id);
    expect(record.results.every(({ key: stored }) => stored.startsWith(signedPrefix))).toBe(true);

    const openai = await generated(key, 'url');
    const mcp = await generations['the client of 2026']?.(new URL(machine.mcpUrl), key);
    const tool = (await mcp?.callTool({ name: 'get_creation', arguments: { id } })) as ToolResult;
    const browser = await portalOf(service).join(account.id, 'owner@signed.test', 'owner');
    const waited = await service.send('/images/generate', {
      key,
      body: lake,
      headers: { prefer: 'wait=20', 'idempotency-key': 'once' },
    });
    const doors: Readonly<Record<string, unknown>> = {
      creation: await addressOf(id, client),
      list: (await service.send('/creations', { key })).body as unknown,
      event: (await service.send(`/events?after=${cursor}`, { key })).body as unknown,
      webhook: JSON.parse(record.webhook?.body ?? '{}'),
      waited: waited.body,
      openai: await openai.json(),
      tool: tool.structuredContent,
      page: (await browser.send('GET', `/creations/${id}`)).body,
      pages: (await browser.send('GET', '/creations')).body,
      home: (await browser.send('GET', '/home')).body,
    };
    for (const [door, shown] of Object.entries(doors)) {
      const addresses = JSON.stringify(shown).match(/http[^"]*\/_results\/[^"\s]*/g) ?? [];
      expect(addresses.length, door).toBeGreaterThan(0);
      for (const address of addresses) {
        expect(address, door).toMatch(signedForm);
        expect([door, await opened(address)]).toEqual([door, 200]);
        expect(Math.abs(lifeOf(address) - 360), door).toBeLessThan(30);
      }
    }
    // Hosts get the picture itself, which the tool reads by the key in the address.
    expect(tool.content.map(({ type }) => type)).toContain('image');
    expect(JSON.stringify(doors['page'])).toMatch(/-96\.webp\?Expires/);

    service.jump(keptSeconds);
    const before = doors['creation'] as string;
    expect(await opened(before)).toBe(403);
    const after = await addressOf(id, client);
    expect(await opened(after)).toBe(200);
    expect(new URL(after).pathname).toBe(new URL(before).pathname);
    const events = await service.send(`/events?after=${cursor}`, { key });
    const { data } = events.body as { data: { payload: { result_urls: string[] } }[] };
    expect(await opened(data[0]?.payload.result_urls[0] ?? '')).toBe(200);
  });

  it('While nobody can read the key, orders are accepted, and a wait ends in a poll', async () => {
    const client = await signing();
    service.jump(keptSeconds);
    machine.faults.set({ call: 'secretsmanager:GetSecretValue', error: 'Throttling', every: 1 });
    const order = { key: client.key, method: 'POST', body: { ...lake, count: 1 } };
    const accepted = await service.send('/images/generate', order);
    expect(accepted.status).toBe(202);
    const waited = await service.send('/images/generate', { ...order, headers: { prefer: 'wait=5' } });
    expect(waited.status).toBe(202);
    const [{ id } = { id: '' }] = (waited.body as { data: { id: string }[] }).data;
    await service.ended(id);
    service.jump(2);
    expect((await show(id, client)).status).toBe(503);
    const openai = await generated(client.key, 'url');
    expect([openai.status, openai.headers.get('retry-after') !== null]).toEqual([503, true]);
    expect((await generated(client.key, 'b64_json')).status).toBe(200);
    machine.faults.clear();
    expect(await opened(await addressOf(id, client))).toBe(200);
  });

  it('The five attempts of a webhook carry equal bytes, and a redelivery by hand signs anew', async () => {
    const client = await signing(10);
    const id = await completed(client, { webhook_url: `${machine.inboxUrl}?status=500` });
    await machine.advance(16 * 60);
    const { webhook } = await recordOf(service, id);
    expect(webhook).toMatchObject({ attempts: 5, status: 'failed' });
    const received = await bodiesOf(id);
    expect(received).toEqual(Array.from({ length: 5 }, () => webhook?.body));
    expect(await opened(addressIn(received[0]))).toBe(403);

    const browser = await portalOf(service).join(client.account.id, 'owner@again.test', 'owner');
    expect((await browser.send('POST', `/creations/${id}/redeliver`)).status).toBe(202);
    await expect.poll(async () => (await bodiesOf(id)).length).toBe(6);
    const again = (await bodiesOf(id)).find((body) => body !== webhook?.body);
    expect(await opened(addressIn(again))).toBe(200);
  });

  it('Accounts that did not choose keep addresses without an end, and a later choice leaves old results', async () => {
    const client = await service.client();
    const id = await completed(client);
    const plain = await addressOf(id, client);
    expect(plain).toMatch(/\/_results\/results\/[\w-]{32}\.png$/);
    await operator.accounts.change(client.account.id, { results: 'signed' });
    expect(await addressOf(id, client)).toBe(plain);
    const later = await completed(client);
    expect(await addressOf(later, client)).toMatch(signedForm);
    expect(Math.abs(lifeOf(await addressOf(later, client)) - 3_660)).toBeLessThan(30);
    await operator.accounts.change(client.account.id, { results: null });
    expect(await addressOf(later, client)).toMatch(signedForm);
  });

  it('An address is borne for 60 s after its end, and not longer', async () => {
    const client = await signing(1);
    const id = await completed(client);
    const address = await addressOf(id, client);
    service.jump(115);
    expect(await opened(address)).toBe(200);
    service.jump(6);
    expect(await opened(address)).toBe(403);
  });

  it('No cache keeps an image beyond its address, and a deletion ends the address', async () => {
    const client = await signing();
    const id = await completed(client);
    const address = await addressOf(id, client);
    const { headers } = await fetch(address, { method: 'HEAD' });
    expect([headers.get('cache-control'), headers.get('expires')]).toEqual(['private, no-cache', null]);
    await service.send(`/creations/${id}/results`, { key: client.key, method: 'DELETE' });
    expect(await opened(address)).toBe(403);
    expect(await addressOf(id, client)).toBe('');
  });
});

const addressIn = (body = '{}'): string =>
  (JSON.parse(body) as { result_urls?: string[] }).result_urls?.[0] ?? '';

/** The bodies that the inbox received for a creation, as they were sent. */
async function bodiesOf(id: string): Promise<string[]> {
  const response = await fetch(machine.inboxUrl);
  const { data } = (await response.json()) as { data: { raw_body: string }[] };
  return data.map(({ raw_body: body }) => body).filter((body) => body.includes(id));
}

everyAnswer(() => service);
