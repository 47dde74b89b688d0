/** The requests of an account as GET /requests lists them, over the whole service. */
import { afterAll, describe, expect, it } from 'vitest';
import { createKey } from '../../service/accounts/api-key.ts';
import { queryAll } from '../../service/aws/dynamodb/query.ts';
import { refusalPartition } from '../../service/aws/dynamodb/table.ts';
import { mcpPath } from '../../service/contract/operations.ts';
import type { AccountId } from '../../service/values/ids.ts';
import { portalOf } from '../fixtures/portal.ts';
import { seededBytes } from '../fixtures/records.ts';
import { type Answer, type Client, sharedTestService } from '../fixtures/service.ts';
import { everyAnswer } from './every-answer.ts';
import { refusalOf, withinOneMinute } from './refusal.ts';

const service = await sharedTestService();
afterAll(() => service.end());

const sketch = { model: 'sandbox-sketch', prompt: 'a lake' };
const wrong = { ...sketch, resolution: '8K' };

interface Entry {
  readonly [name: string]: unknown;
  readonly outcome: string;
  readonly created_at: string;
}
interface Page {
  readonly data: readonly Entry[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

async function listed(by: Client, query: Readonly<Record<string, string>> = {}): Promise<Page> {
  const answer = await service.send(`/requests?${new URLSearchParams(query).toString()}`, { key: by.key });
  expect(answer.status, answer.text).toBe(200);
  return answer.body as Page;
}
const order = (by: Pick<Client, 'key'>, body: object): Promise<Answer> =>
  service.send('/images/generate', { key: by.key, body });
const rowsOf = (account: AccountId): Promise<unknown[]> =>
  queryAll(service.operator.table, refusalPartition(account), 'REFUSED#');

describe('GET /requests', () => {
  it('A refused request is listed with its reason, and an accepted one with its creation', async () => {
    const client = await service.client();
    const refused = await order(client, wrong);
    const accepted = await order(client, sketch);
    const { data, has_more, next_cursor } = await listed(client);
    expect([has_more, next_cursor]).toEqual([false, null]);
    expect(data).toMatchObject([
      {
        outcome: 'accepted',
        door: null,
        status: null,
        key: client.record.id,
        creation_id: (accepted.body as { id: string }).id,
        count: 1,
      },
      {
        outcome: 'refused',
        door: 'api',
        method: 'POST',
        path: '/api/public/v1/images/generate',
        status: 400,
        code: 'ERR_INVALID_REQUEST',
        field: 'resolution',
        message: (refused.body as { error: { message: string } }).error.message,
        key: client.record.id,
        token: null,
        request_id: refused.headers.get('x-request-id'),
        address: '127.0.0.0/24',
        body: JSON.stringify(wrong),
        count: 1,
        creation_id: null,
      },
    ]);
    expect(JSON.parse(String(data[0]?.['body']))).toMatchObject(sketch);
  });

  it('Every door writes refused requests, each under its own name', async () => {
    const client = await service.client({ balance: '0.005' });
    const { machine } = service;
    const headers = { authorization: `Bearer ${client.key}`, 'content-type': 'application/json' };
    const post = (url: string, body: object): Promise<Response> =>
      fetch(url, {
        method: 'POST',
        headers: { ...headers, accept: 'application/json, text/event-stream' },
        body: JSON.stringify(body),
      });
    await order(client, sketch);
    const openai = await post(`${machine.openaiUrl}/images/generations`, { ...sketch, size: 'big' });
    expect(openai.status).toBe(400);
    await post(machine.mcpUrl, {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'generate_image', arguments: sketch },
    });
    await post(machine.mcpUrl, []);
    const { data } = await listed(client);
    expect(
      data.map(({ door, status, code, reason, field }) => [door, status, code, reason ?? field]),
    ).toEqual([
      ['mcp', 400, 'ERR_INVALID_REQUEST', 'batch'],
      ['mcp', 402, 'ERR_INSUFFICIENT_BALANCE', null],
      ['openai', 400, 'ERR_INVALID_REQUEST', 'size'],
      ['api', 402, 'ERR_INSUFFICIENT_BALANCE', null],
    ]);
    expect(data[0]?.['path']).toBe(mcpPath);
  });

  it('The playground of the portal writes its refused requests too, and its creations are known as its own', async () => {
    const client = await service.client();
    const browser = await portalOf(service).join(client.account.id, 'owner@log.test', 'owner');
    expect((await browser.send('POST', '/creations', wrong)).status).toBe(400);
    expect((await browser.send('POST', '/creations', sketch)).status).toBe(202);
    const { data } = await listed(client, { door: 'portal' });
    expect(data).toMatchObject([
      { outcome: 'accepted', door: 'portal', key: 'portal' },
      { outcome: 'refused', door: 'portal', key: 'portal', status: 400, field: 'resolution' },
    ]);
    expect((await listed(client, { door: 'api' })).data).toEqual([]);
    const page = (await browser.send('GET', '/requests?outcome=refused&limit=1')).body as Page;
    expect(page).toMatchObject({ data: [{ key: { id: 'portal', name: 'Playground' }, status: 400 }] });
    expect((await browser.send('GET', '/requests?status=200')).status).toBe(400);
  });

  it('A request with a key that has ended is listed, and one with a key that nobody knows is written nowhere', async () => {
    const client = await service.client();
    const other = await service.client();
    const at = new Date().toISOString();
    await service.operator.accounts.revokeKey(client.account.id, client.record.id, at);
    const refused = await order(client, sketch);
    expect(refused.status).toBe(401);
    // The ids and the checksum of the key are right, and its secret is not.
    const guessed = createKey(other.account.id, other.record.id, seededBytes);
    expect((await order({ key: guessed }, sketch)).status).toBe(401);
    expect(await rowsOf(client.account.id)).toMatchObject([
      { status: 401, reason: 'api_key_invalid', keyId: client.record.id },
    ]);
    expect(await rowsOf(other.account.id)).toEqual([]);
  });

  it('A token of an end user is listed by its id, with the key that minted it, and may not list', async () => {
    const client = await service.client();
    const body = { user: 'alice', spend_limit: 0.005 };
    const minted = await service.send('/user-tokens', { key: client.key, body });
    const { id, token } = minted.body as { id: string; token: string };
    expect((await order({ key: token }, sketch)).status).toBe(402);
    expect((await service.send('/requests', { key: token })).status).toBe(403);
    await service.send(`/user-tokens/${id}/revoke`, { key: client.key, method: 'POST' });
    expect((await order({ key: token }, sketch)).status).toBe(401);
    const { data } = await listed(client);
    expect(data.map(({ status, reason, token: by, key }) => [status, reason, by, key])).toEqual([
      [401, 'api_key_invalid', id, client.record.id],
      [403, 'operation_not_allowed', id, client.record.id],
      [402, 'token_budget_exceeded', id, client.record.id],
    ]);
    expect(JSON.stringify(await rowsOf(client.account.id))).not.toContain(token);
  });

  it('A request of a suspended account is listed once it may read again, and none of a disabled account is written', async () => {
    const client = await service.client();
    await service.operator.accounts.change(client.account.id, { condition: 'disabled' });
    expect((await order(client, sketch)).status).toBe(403);
    expect(await rowsOf(client.account.id)).toEqual([]);
    await service.operator.accounts.change(client.account.id, { condition: 'suspended' });
    expect((await order(client, sketch)).status).toBe(403);
    await service.operator.accounts.change(client.account.id, { condition: 'active' });
    expect((await listed(client)).data).toMatchObject([{ status: 403, code: 'ERR_API_SUSPENDED' }]);
  });

  it('Each filter shows its requests alone, and a wrong filter is named', async () => {
    const client = await service.client({ balance: '0.015' });
    await order(client, wrong);
    await order(client, sketch);
    await order(client, sketch);
    await order(client, { ...sketch, model: 'none' });
    const kinds = async (query: Record<string, string>): Promise<unknown[]> =>
      (await listed(client, query)).data.map(({ status }) => status);
    expect(await kinds({})).toEqual([404, 402, null, 400]);
    expect(await kinds({ outcome: 'refused' })).toEqual([404, 402, 400]);
    expect(await kinds({ outcome: 'accepted' })).toEqual([null]);
    expect(await kinds({ status: '4xx' })).toEqual([404, 402, 400]);
    expect(await kinds({ status: '5xx' })).toEqual([]);
    expect(await kinds({ status: '402' })).toEqual([402]);
    expect(await kinds({ code: 'ERR_MODEL_NOT_FOUND' })).toEqual([404]);
    expect(await kinds({ key: client.record.id })).toEqual([404, 402, null, 400]);
    expect(await kinds({ key: 'Key001' })).toEqual([]);
    const [, second] = (await listed(client)).data;
    const between = { from: second?.created_at ?? '', to: second?.created_at ?? '' };
    expect(await kinds(between)).toEqual([402]);
    const query = 'limit=0&cursor=x&outcome=y&status=200&code=no&key=-&door=no&from=now&to=1&colour=red';
    const refused = await service.send(`/requests?${query}`, { key: client.key });
    const names = (refusalOf(refused).details['errors'] as { field: string }[]).map(({ field }) => field);
    expect(names.sort()).toEqual(
      query
        .split('&')
        .map((one) => one.split('=')[0])
        .sort(),
    );
  });

  it('Pages of both lists together miss nothing and repeat nothing', async () => {
    const client = await service.client();
    for (let number = 0; number < 9; number += 1)
      await order(client, number % 3 === 0 ? sketch : { ...wrong, prompt: `number ${number}` });
    const all = (await listed(client)).data;
    expect(all).toHaveLength(9);
    for (const limit of ['1', '2', '4']) {
      const found: Entry[] = [];
      for (let cursor: string | null = ''; cursor !== null;) {
        const page: Page = await listed(client, { limit, ...(cursor !== '' && { cursor }) });
        found.push(...page.data);
        cursor = page.next_cursor;
      }
      expect(found).toEqual(all);
    }
  });

  it('A storm of one kind has ten rows and one that counts the others', async () => {
    withinOneMinute(service);
    const client = await service.client({ postRate: '0' });
    for (let number = 0; number < 40; number += 1) expect((await order(client, sketch)).status).toBe(429);
    const { data } = await listed(client);
    expect(data.map(({ count }) => count)).toEqual([30, ...Array.from({ length: 10 }, () => 1)]);
    expect(await rowsOf(client.account.id)).toHaveLength(11);
  });

  it('No account sees the requests of another one', async () => {
    const [client, other] = [await service.client(), await service.client()];
    await order(client, wrong);
    expect((await listed(other)).data).toEqual([]);
  });

  it('Requests are listed for seven days', async () => {
    const client = await service.client();
    await order(client, wrong);
    await order(client, sketch);
    const [, row] = (await listed(client)).data;
    const later = { from: new Date(Date.parse(row?.created_at ?? '') - 8 * 86_400_000).toISOString() };
    expect((await listed(client, later)).data).toHaveLength(2);
    service.jump(7 * 86_400 + 1);
    expect((await listed(client, later)).data).toEqual([]);
  });
});

everyAnswer(() => service);
