/** Tokens of end users. The numbers are those of the acceptance list. */
import { createMeter } from '../../lab/cost/meter.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { getItem } from '../../service/aws/dynamodb/send.ts';
import { keys } from '../../service/aws/dynamodb/table.ts';
import { parseUserToken } from '../../service/accounts/user-token.ts';
import { adminJson } from '../admin/admin-run.ts';
import { accountsOf } from './user-token-bursts.ts';
import { type Answer, type Client, type Send, sendFrom, startTestService } from '../fixtures/service.ts';
import { idOf } from '../fixtures/values.ts';
import { everyAnswer } from './every-answer.ts';
import { startNothing } from './exact-limits.ts';
import { png } from './image-origin.ts';
import { fieldsOf, refusalOf, withinOneMinute } from './refusal.ts';

const service = await startTestService();
afterAll(() => service.end());
const { burst, mint, wide } = accountsOf(service);
const origin = 'https://app.example.com';
/** 0.01 USD and 0.04 USD. */
const sketch = { model: 'sandbox-sketch', prompt: 'a lake' };
const standard = { model: 'sandbox-standard', prompt: 'a lake' };

beforeAll(async () => {
  // A function that is still loading its code while many requests wait would refuse them with 503.
  expect((await service.send('/images/generate', { body: {} })).status).toBe(400);
});

function order(key: string, body: object = sketch, headers: Send['headers'] = {}): Promise<Answer> {
  return service.send('/images/generate', { key, body, headers });
}
const read = (client: Client, { id }: { id: string }): Promise<Answer> =>
  service.send(`/user-tokens/${id}`, { key: client.key });
const revoke = (key: string, { id }: { id: string }): Promise<Answer> =>
  service.send(`/user-tokens/${id}/revoke`, { key, method: 'POST' });
const reasonOf = (answer: Answer): unknown => [answer.status, refusalOf(answer).details['reason']];
const ended = (how: string): object => ({
  status: 401,
  code: 'ERR_API_KEY_INVALID',
  details: { reason: 'api_key_invalid', token: how },
});
const revokeKey = (client: Client): Promise<boolean> =>
  service.operator.accounts.revokeKey(client.account.id, client.record.id, new Date().toISOString());

interface Body {
  readonly status: string;
  readonly user: string;
  readonly webhook?: object;
  readonly metadata?: object;
  readonly sufficient: boolean;
  readonly data: readonly { readonly id: string }[];
  readonly spend_limit: number;
  readonly spent: number;
  readonly uses: number;
  readonly revoked_at: string | null;
  readonly upload_url: string;
  readonly upload_headers: Readonly<Record<string, string>>;
  readonly image_url: string;
}
const bodyOf = ({ body }: Answer): Body => body as Body;

/** An upload with its bytes. */
async function uploaded(key: string): Promise<string> {
  const file = png(64, 64, 1_000);
  const announced = await service.send('/uploads', {
    key,
    body: { content_type: 'image/png', bytes: file.length },
  });
  expect(announced.status, announced.text).toBe(201);
  const { upload_url: url, upload_headers: headers, image_url: address } = bodyOf(announced);
  expect((await fetch(url, { method: 'PUT', body: Buffer.from(file), headers })).status).toBe(200);
  return address;
}

describe('a token of an end user', () => {
  it('T1: A minted token generates, polls, cancels and uploads for its user', async () => {
    const client = await service.client();
    const { token } = await mint(client, { spend_limit: 1 });
    const image = await uploaded(token);
    const made = await order(token, { ...standard, model: 'sandbox-pro', image_urls: [image] });
    expect([made.status, bodyOf(made).user]).toEqual([202, 'alice']);
    expect(await service.ended(idOf(made))).toMatchObject({ status: 'completed', user: 'alice' });
    const seen = await service.send(`/creations/${idOf(made)}`, { key: token });
    expect([seen.status, bodyOf(seen).status]).toEqual([200, 'completed']);
    startNothing(service);
    const open = await order(token);
    const cancelled = await service.send(`/creations/${idOf(open)}/cancel`, { key: token, method: 'POST' });
    service.machine.faults.clear();
    expect([cancelled.status, bodyOf(cancelled).status]).toEqual([200, 'failed']);
    const quote = await service.send('/images/quote', { key: token, body: standard });
    expect([quote.status, bodyOf(quote).sufficient]).toEqual([200, true]);
    expect((await service.send('/models', { key: token })).status).toBe(200);
  });

  it('T2: Of 200 racers, each 0.04, with the limit 1.00 exactly 25 are accepted, and the rest get 402 token_budget_exceeded', async () => {
    const client = await wide();
    const minted = await mint(client, { spend_limit: 1, max_uses: 100 });
    const { accepted, refused } = await burst(200, () => order(minted.token, standard));
    expect(accepted).toHaveLength(25);
    expect(refused).toHaveLength(175);
    for (const answer of refused)
      expect(refusalOf(answer)).toEqual({
        status: 402,
        code: 'ERR_INSUFFICIENT_BALANCE',
        details: { reason: 'token_budget_exceeded', cap: 1, spent: 1 },
      });
    expect((await read(client, minted)).body).toMatchObject({ spent: 1, uses: 25 });
    const { availableMicros } = await service.account(client.account.id);
    expect(availableMicros).toBe(99_000_000);
  }, 120_000);

  it('T3: The same with max_uses 7: exactly 7 are accepted', async () => {
    const client = await wide();
    const minted = await mint(client, { spend_limit: 1, max_uses: 7 });
    const { accepted, refused } = await burst(200, () => order(minted.token, standard));
    expect(accepted).toHaveLength(7);
    for (const answer of refused)
      expect(refusalOf(answer).details).toEqual({ reason: 'token_uses_exceeded', limit: 7, used: 7 });
    expect((await read(client, minted)).body).toMatchObject({ spent: 0.28, uses: 7 });
  }, 120_000);

  it('T4: A limit that is no multiple, 1.03, ends at 1.000000 spent, and 0.03 stays', async () => {
    const client = await wide();
    const minted = await mint(client, { spend_limit: 1.03, max_uses: 100 });
    const { accepted } = await burst(40, () => order(minted.token, standard));
    expect(accepted).toHaveLength(25);
    const body = bodyOf(await read(client, minted));
    expect([body.spent, body.spend_limit - body.spent]).toEqual([1, expect.closeTo(0.03, 9)]);
    const parsed = parseUserToken(minted.token);
    const item =
      parsed && (await getItem(service.operator.table, keys.userToken(parsed.accountId, parsed.id)));
    expect(item?.['leftMicros']).toBe(30_000);
  }, 120_000);

  it('T5: A refunded creation makes room for one more of its cost, and no use', async () => {
    const client = await service.client();
    const minted = await mint(client, { spend_limit: 0.02, max_uses: 3 });
    startNothing(service);
    const first = await order(minted.token);
    expect((await order(minted.token)).status).toBe(202);
    expect(reasonOf(await order(minted.token))).toEqual([402, 'token_budget_exceeded']);
    await service.send(`/creations/${idOf(first)}/cancel`, { key: minted.token, method: 'POST' });
    expect((await read(client, minted)).body).toMatchObject({ spent: 0.01, uses: 2 });
    expect((await order(minted.token)).status).toBe(202);
    const last = await order(minted.token);
    service.machine.faults.clear();
    expect(reasonOf(last)).toEqual([402, 'token_budget_exceeded']);
    expect((await read(client, minted)).body).toMatchObject({ spent: 0.02, uses: 3 });
  });

  it('T6: After the 200 of a revocation no request is accepted, racing ones included', async () => {
    const client = await wide();
    const minted = await mint(client, { spend_limit: 100, max_uses: 100 });
    let isRevoked = false;
    const late: number[] = [];
    const racer = async (): Promise<void> => {
      for (let sent = 0; sent < 6; sent += 1) {
        const isLate = isRevoked;
        const { status } = await order(minted.token);
        if (isLate) late.push(status);
      }
    };
    const racing = Promise.all(Array.from({ length: 12 }, racer));
    await sleep(50);
    const revoked = await revoke(client.key, minted);
    const spent = async (): Promise<unknown> => bodyOf(await read(client, minted)).spent;
    isRevoked = true;
    expect([revoked.status, bodyOf(revoked).revoked_at]).toEqual([200, expect.any(String)]);
    const after = await spent();
    await racing;
    expect(await spent()).toBe(after);
    expect([...new Set(late)]).toEqual([401]);
    expect(refusalOf(await order(minted.token))).toEqual(ended('revoked'));
    const again = await revoke(client.key, minted);
    expect([again.status, again.body]).toEqual([200, revoked.body]);
  }, 60_000);

  it.each<[string, string, (client: Client) => Promise<unknown>]>([
    ['revoking the minting key', 'revoked', revokeKey],
    [
      'rolling out the minting key, which then has an end',
      'expired',
      (client) =>
        service.operator.accounts.changeKey(client.account.id, client.record.id, {
          expiresAt: new Date(service.machine.clock.now()).toISOString(),
        }),
    ],
  ])('T7: The same for %s', async (_what, how, act) => {
    const client = await service.client();
    const { token } = await mint(client);
    expect((await order(token)).status).toBe(202);
    await act(client);
    expect(refusalOf(await order(token))).toEqual(ended(how));
  });

  it('T7: The same for suspending the account', async () => {
    const client = await service.client();
    const { token } = await mint(client);
    await service.operator.accounts.change(client.account.id, { condition: 'suspended' });
    expect(reasonOf(await order(token))).toEqual([403, 'api_suspended']);
  });

  it('T8: expires_at holds to the millisecond of the clock of the service, and a token outlives no key', async () => {
    withinOneMinute(service);
    const { clock } = service.machine;
    const key = await service.client({ expires: new Date(clock.now() + 100_000).toISOString() });
    const short = await mint(key, { expires_in: 300 });
    expect(short.expires_at).toBe(key.record.expiresAt);
    const client = await service.client();
    const minted = await mint(client, { expires_in: 60 });
    expect(Date.parse(minted.expires_at)).toBe(clock.now() + 60_000);
    clock.jumpTo(Date.parse(minted.expires_at) - 1);
    expect((await order(minted.token)).status).toBe(202);
    clock.jumpTo(Date.parse(minted.expires_at));
    const answer = await order(minted.token);
    expect(refusalOf(answer)).toEqual(ended('expired'));
    expect(answer.headers.get('www-authenticate')).toBe('Bearer error="invalid_token"');
  });

  it.each<[string, object, string]>([
    ['expires_in 901', { expires_in: 901 }, 'expires_in: too_big'],
    ['expires_in 59', { expires_in: 59 }, 'expires_in: too_small'],
    ['no user', { user: undefined }, 'user: required'],
    ['no spend_limit', { spend_limit: undefined }, 'spend_limit: required'],
    ['a spend_limit of 0', { spend_limit: 0 }, 'spend_limit: too_small'],
    ['a spend_limit of 7 decimals', { spend_limit: 0.1234567 }, 'spend_limit: invalid_value'],
    ['max_uses 101', { max_uses: 101 }, 'max_uses: too_big'],
    ['an origin with a path', { origins: [`${origin}/`] }, 'origins[0]: invalid_value'],
    ['an origin *', { origins: ['*'] }, 'origins[0]: invalid_value'],
    ['an origin with a pattern', { origins: ['https://*.example.com'] }, 'origins[0]: invalid_value'],
    ['an origin of plain http', { origins: ['http://app.example.com'] }, 'origins[0]: invalid_value'],
    ['11 origins', { origins: Array.from({ length: 11 }, () => origin) }, 'origins: too_many'],
    ['a webhook_url that is no address', { webhook_url: 'hook' }, 'webhook_url: refused_target'],
    ['a metadata value that is no text', { metadata: { a: 1 } }, 'metadata.a: invalid_type'],
    ['an unknown field', { users: 'bob' }, 'users: unknown_field'],
  ])('T9: %s is refused with 400', async (_what, change, field) => {
    const { key } = await service.client();
    const body = { user: 'alice', spend_limit: 1, ...change };
    const answer = await service.send('/user-tokens', { key, body });
    expect([answer.status, ...fieldsOf(answer)]).toEqual([400, field]);
  });

  it('T9: A model that the key may not use is refused with 400', async () => {
    const client = await service.client({ models: 'sandbox-sketch' });
    const body = { user: 'alice', spend_limit: 1, models: ['sandbox-sketch', 'sandbox-pro'] };
    const answer = await service.send('/user-tokens', { key: client.key, body });
    expect([answer.status, ...fieldsOf(answer)]).toEqual([400, 'models[1]: invalid_value']);
  });

  it('T10: Another user, webhook_url, metadata and an http source are refused with 400, and nothing is charged', async () => {
    const client = await service.client();
    const { token } = await mint(client);
    const body = {
      ...sketch,
      model: 'sandbox-pro',
      user: 'bob',
      webhook_url: 'https://example.com/hook',
      metadata: { order: '1' },
      image_urls: ['http://127.0.0.1:1/a.png'],
      mask_url: 'http://127.0.0.1:1/b.png',
    };
    for (const path of ['/images/generate', '/images/quote']) {
      const answer = await service.send(path, { key: token, body });
      expect([answer.status, ...fieldsOf(answer).toSorted()]).toEqual([
        400,
        'image_urls[0]: invalid_value',
        'mask_url: invalid_value',
        'metadata: invalid_value',
        'user: invalid_value',
        'webhook_url: invalid_value',
      ]);
    }
    expect((await service.account(client.account.id)).availableMicros).toBe(25_000_000);
    const allowed = { ...sketch, user: 'alice', webhook_url: null, metadata: null };
    expect((await order(token, allowed)).status).toBe(202);
  });

  it("T11: Creations have the token's user, metadata and webhook, and the webhook is signed as ever", async () => {
    const client = await service.client();
    const { token } = await mint(client, {
      metadata: { order: '4711' },
      webhook_url: service.machine.inboxUrl,
    });
    const made = await order(token);
    expect([bodyOf(made).webhook, bodyOf(made).metadata]).toEqual([undefined, undefined]);
    const record: unknown = await service.ended(idOf(made));
    expect(record).toMatchObject({ user: 'alice', metadata: { order: '4711' } });
    const webhook = await webhookOf(idOf(made));
    expect(webhook).toMatchObject({ body: { metadata: { order: '4711' } } });
    expect(webhook.verified).toBe(true);
    const hidden = await service.send(`/creations/${idOf(made)}`, { key: token });
    expect(hidden.status).toBe(200);
    expect(['webhook', 'metadata'].filter((name) => name in bodyOf(hidden))).toEqual([]);
  });

  it("T12: User B's token gets 404 for A's creation and 400 for A's upload, and makes a new creation with A's Idempotency-Key", async () => {
    const client = await service.client();
    const [a, b] = [await mint(client, { user: 'a' }), await mint(client, { user: 'b' })];
    const header = { 'idempotency-key': 'one' };
    const made = await order(a.token, sketch, header);
    const byServer = await order(client.key, { ...sketch, user: 'a' }, header);
    const another = await order(b.token, sketch, header);
    expect(new Set([made, byServer, another].map(idOf)).size).toBe(3);
    const path = `/creations/${idOf(made)}`;
    const absent = await service.send('/creations/01939f4e-0000-7000-8000-000000000000', { key: b.token });
    expect((await service.send(path, { key: b.token })).text).toBe(absent.text);
    expect((await service.send(`${path}/cancel`, { key: b.token, method: 'POST' })).text).toBe(absent.text);
    const image = await uploaded(a.token);
    const stolen = await order(b.token, { ...sketch, model: 'sandbox-pro', image_urls: [image] });
    expect([stolen.status, ...fieldsOf(stolen)]).toEqual([400, 'image_urls[0]: upload_not_usable']);
    const ofServer = await uploaded(client.key);
    const used = await order(b.token, { ...sketch, model: 'sandbox-pro', image_urls: [ofServer] });
    expect([used.status, ...fieldsOf(used)]).toEqual([400, 'image_urls[0]: upload_not_usable']);
  });

  it('T13: The same Idempotency-Key with a fresh token of the same user is a replay without a second charge', async () => {
    const client = await service.client();
    const header = { 'idempotency-key': 'mine' };
    const first = await mint(client, { spend_limit: 0.01, max_uses: 1 });
    const made = await order(first.token, sketch, header);
    const used = await order(first.token, sketch, header);
    await revoke(client.key, first);
    const fresh = await mint(client, { metadata: { page: '2' } });
    const again = await order(fresh.token, { ...sketch, user: 'alice' }, header);
    for (const replay of [used, again]) {
      expect([replay.status, idOf(replay)]).toEqual([202, idOf(made)]);
      expect(replay.headers.get('idempotent-replayed')).toBe('true');
    }
    expect((await read(client, fresh)).body).toMatchObject({ spent: 0, uses: 0 });
    expect((await service.account(client.account.id)).availableMicros).toBe(24_990_000);
    const other = await order(fresh.token, standard, header);
    expect(reasonOf(other)).toEqual([400, 'idempotency_key_mismatch']);
  });

  it('T14: A model outside the token is absent and 404', async () => {
    const client = await service.client({ models: 'sandbox-sketch,sandbox-standard' });
    const { token } = await mint(client, { models: ['sandbox-sketch'] });
    const body = bodyOf(await service.send('/models', { key: token }));
    expect(body.data.map(({ id }) => id)).toEqual(['sandbox-sketch']);
    expect((await order(token, standard)).status).toBe(404);
    expect((await order(token)).status).toBe(202);
    const all = await mint(client);
    expect((await order(all.token, standard)).status).toBe(202);
    expect((await order(all.token, { ...standard, model: 'sandbox-pro' })).status).toBe(404);
  });

  it.each([
    ['GET', '/balance'],
    ['GET', '/events'],
    ['GET', '/creations'],
    ['POST', '/user-tokens'],
    ['GET', '/user-tokens/0123456789abcdef'],
    ['DELETE', '/creations/01939f4e-0000-7000-8000-000000000000'],
    ['GET', '/nothing'],
    ['PUT', '/uploads'],
  ])('T15: %s %s is 403 operation_not_allowed', async (method, path) => {
    const { token } = await mint(await service.client());
    const answer = await service.send(path, {
      key: token,
      method,
      ...(method === 'POST' && { body: { user: 'bob', spend_limit: 1 } }),
      ...(path === '/nothing' || method === 'PUT' ? { isOfOlderRelease: true } : {}),
    });
    expect(refusalOf(answer)).toEqual({
      status: 403,
      code: 'ERR_FORBIDDEN',
      details: { reason: 'operation_not_allowed' },
    });
  });

  it('T16: The 402 of the balance has neither available nor top_up_url', async () => {
    const client = await service.client({ balance: '0.02' });
    const { token } = await mint(client);
    const answer = await order(token, standard);
    expect(refusalOf(answer)).toEqual({
      status: 402,
      code: 'ERR_INSUFFICIENT_BALANCE',
      details: { reason: 'account_balance' },
    });
    expect(answer.text).not.toMatch(/0\.02|0\.04|top_up/);
    const quote = await service.send('/images/quote', { key: token, body: standard });
    expect(quote.body).toMatchObject({ available: 1, sufficient: false });
  });
});

describe('a token in a page', () => {
  const preflight = (path: string): Promise<Response> =>
    sendFrom('127.0.0.9', `${service.machine.apiUrl}${path}`, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'POST' },
    });

  it('T17: A preflight is 204 without a key, and 30 of them block nobody', async () => {
    const paths = [
      '/models',
      '/images/quote',
      '/images/generate',
      '/uploads',
      '/creations/1',
      '/creations/1/cancel',
    ];
    const calls: string[] = [];
    service.machine.interceptAws((call, serve) => {
      if (call.caller.startsWith('UnknownRoute')) calls.push(call.operation);
      return serve();
    });
    for (const path of [...paths, ...paths, ...paths, ...paths, ...paths]) {
      const { status, headers } = await preflight(path);
      expect([
        status,
        headers.get('access-control-allow-origin'),
        headers.get('access-control-allow-headers'),
        headers.get('access-control-max-age'),
      ]).toEqual([204, '*', 'Authorization, Content-Type, Idempotency-Key, Prefer', '7200']);
    }
    service.machine.interceptAws((_call, serve) => serve());
    expect(calls.filter((name) => /Item/.test(name))).toEqual([]);
    const { token } = await mint(await service.client(), { origins: [origin] });
    expect((await service.send('/models', { key: token, from: '127.0.0.9' })).status).toBe(200);
    for (const path of ['/balance', '/user-tokens', '/creations', '/nothing'])
      expect((await preflight(path)).headers.get('access-control-allow-origin')).toBeNull();
  });

  it('T18: A listed origin gets its own value and Vary, another gets 403 without the header, and a key gets none at all', async () => {
    const client = await service.client();
    const { token } = await mint(client, { origins: [origin, 'http://localhost:3000'] });
    const ask = (key: string, from?: string): Promise<Answer> =>
      service.send('/models', { key, ...(from !== undefined && { headers: { origin: from } }) });
    const allowed = ({ headers }: Answer): unknown => headers.get('access-control-allow-origin');
    for (const listed of [origin, 'http://localhost:3000']) {
      const answer = await ask(token, listed);
      expect([answer.status, allowed(answer), answer.headers.get('vary')]).toEqual([200, listed, 'Origin']);
      expect(answer.headers.get('access-control-expose-headers')).toContain('X-Darkroom-Cost');
    }
    for (const other of ['https://evil.example.com', 'null', `${origin}:8443`]) {
      const answer = await ask(token, other);
      expect([reasonOf(answer), allowed(answer)]).toEqual([[403, 'origin_not_allowed'], null]);
    }
    expect(allowed(await ask(client.key, origin))).toBeNull();
    expect((await ask(client.key, origin)).status).toBe(200);
    expect([(await ask(token)).status, allowed(await ask(token))]).toEqual([200, null]);
    const pageless = await mint(client);
    expect(reasonOf(await ask(pageless.token, origin))).toEqual([403, 'origin_not_allowed']);
    const refused = await service.send('/balance', { key: token, headers: { origin } });
    expect([reasonOf(refused), allowed(refused)]).toEqual([[403, 'operation_not_allowed'], origin]);
    await revokeKey(client);
    expect(allowed(await ask(token, origin))).toBe(origin);
    const before = await service.account(client.account.id);
    expect(before.availableMicros).toBe(25_000_000);
  });

  it('T18: A token is taken from Authorization: Bearer only', async () => {
    const { token } = await mint(await service.client());
    const answer = await service.send('/models', {
      key: null,
      headers: { 'x-api-key': token },
      from: '127.0.0.10',
    });
    expect(refusalOf(answer).details).toEqual({ reason: 'api_key_invalid' });
  });

  it('T19: 40 requests with an expired token from one address leave it unblocked; 20 with a wrong checksum block it', async () => {
    withinOneMinute(service);
    const client = await service.client();
    const { token, expires_at: end } = await mint(client, { expires_in: 60 });
    service.machine.clock.jumpTo(Date.parse(end));
    const from = '127.0.0.11';
    const ask = (key: string): Promise<Answer> => service.send('/models', { key, from });
    for (let sent = 0; sent < 40; sent += 1) expect(refusalOf(await ask(token))).toEqual(ended('expired'));
    expect((await ask(client.key)).status).toBe(200);
    const mistyped = `${token.slice(0, -1)}${token.endsWith('a') ? 'b' : 'a'}`;
    for (let sent = 0; sent < 20; sent += 1)
      expect(refusalOf(await ask(mistyped)).details).toEqual({ reason: 'api_key_invalid' });
    expect(reasonOf(await ask(client.key))).toEqual([429, 'burst_block']);
  });

  it("T20: The token's 21st POST in a minute is 429, while the server of the account goes on", async () => {
    withinOneMinute(service);
    const client = await service.client();
    const { token } = await mint(client, { max_uses: 100 });
    const ask = (key: string): Promise<Answer> => service.send('/images/quote', { key, body: sketch });
    const statuses = [];
    for (let sent = 0; sent < 21; sent += 1) statuses.push((await ask(token)).status);
    expect(statuses).toEqual([...Array.from({ length: 20 }, () => 200), 429]);
    const late = await order(token);
    expect(refusalOf(late).details).toEqual({ reason: 'account_rate', limit: 20, window_seconds: 60 });
    expect((await order(client.key)).status).toBe(202);
    expect((await ask(client.key)).headers.get('ratelimit')).toMatch(/^"post";r=57;/);
    const other = await mint(client);
    expect((await ask(other.token)).status).toBe(200);
    await adminJson(service.folder, 'accounts', 'set', client.account.id, '--user-post-rate', '2');
    expect((await ask(other.token)).status).toBe(200);
    const over = await ask(other.token);
    expect([over.status, refusalOf(over).details]).toMatchObject([429, { limit: 2 }]);
    expect((await adminJson(service.folder, 'accounts', 'show', client.account.id))['user_post_rate']).toBe(
      2,
    );
  });
});

describe('the budgets around a token', () => {
  it.each<[string, object, string]>([
    ['daily', { dailyCap: '0.03' }, 'daily_budget_exceeded'],
    ['monthly', { monthlyCap: '0.03' }, 'monthly_budget_exceeded'],
    ['total', { totalCap: '0.03' }, 'total_budget_exceeded'],
    ['per-user', { perUserMonthlyCap: '0.03' }, 'user_budget_exceeded'],
  ])(
    'T21: The %s cap of the key refuses token requests exactly',
    async (_name, cap, reason) => {
      const client = await wide(cap);
      const { token } = await mint(client, { spend_limit: 1, max_uses: 100 });
      const { accepted, refused } = await burst(20, () => order(token));
      expect(accepted).toHaveLength(3);
      for (const answer of refused) expect(reasonOf(answer)).toEqual([402, reason]);
    },
    60_000,
  );

  it('T22: A request by token makes as many AWS calls as one by key', async () => {
    const client = await service.client();
    const { token } = await mint(client);
    const callsOf = async (path: string, key: string, body?: object): Promise<string[]> => {
      const names: string[] = [];
      service.machine.interceptAws((call, serve) => {
        if (/^(GenerateImage|CreateUpload|GetCreation|QuoteImage)/.test(call.caller))
          names.push(call.operation);
        return serve();
      });
      const headers = { 'idempotency-key': crypto.randomUUID() };
      const answer = await service.send(path, { key, headers, ...(body && { body }) });
      expect(answer.status).toBeLessThan(300);
      // The count of a start goes on for a moment.
      await sleep(20);
      service.machine.interceptAws((_call, serve) => serve());
      return names.toSorted();
    };
    const byKey = await callsOf('/images/generate', client.key, sketch);
    expect(byKey).toEqual(['BatchGetItem', 'StartExecution', 'TransactWriteItems', 'UpdateItem']);
    expect(await callsOf('/images/generate', token, sketch)).toEqual(byKey);
    expect(await callsOf('/images/quote', token, sketch)).toEqual(
      await callsOf('/images/quote', client.key, sketch),
    );
    const unitsOf = async (key: string): Promise<readonly [read: number, written: number]> => {
      const nameOf = (id: string): string | undefined => /^GenerateImage/.exec(id)?.[0];
      const meter = createMeter(service.machine, nameOf);
      await order(key);
      await sleep(20);
      meter.stop();
      const { readUnits, writeUnits } = meter.functions['GenerateImage'] ?? {};
      return [readUnits ?? 0, writeUnits ?? 0];
    };
    // Of docs/cost.md: 0.0014 USD for 1,000.
    const [read, written] = await unitsOf(client.key);
    expect(await unitsOf(token)).toEqual([read + 1, written + 2]);
    const upload = { content_type: 'image/png', bytes: 1_000 };
    expect(await callsOf('/uploads', token, upload)).toHaveLength(
      (await callsOf('/uploads', client.key, upload)).length,
    );
    const path = `/creations/${idOf(await order(token))}`;
    // A function reads the catalog at its first request, and notes the use of a key once an hour.
    await callsOf(path, client.key);
    await sleep(1_050);
    const polled = await callsOf(path, token);
    await sleep(1_050);
    expect(polled).toEqual(await callsOf(path, client.key));
  });

  it('T23: The OpenAI-shaped endpoint, MCP, the operator API and the portal refuse a token without a lookup', async () => {
    const { token } = await mint(await service.client());
    const { openaiUrl, mcpUrl, portalUrl } = service.machine;
    const tables: string[] = [];
    service.machine.interceptAws((call, serve) => {
      if (
        /^(Openai|Mcp|Operator|Portal)/.test(call.caller) &&
        JSON.stringify(call.input).includes('USER_TOKEN')
      )
        tables.push(call.operation);
      return serve();
    });
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const post = (url: string, body: object): Promise<Response> =>
      fetch(url, {
        method: 'POST',
        headers: { ...headers, accept: 'application/json, text/event-stream' },
        body: JSON.stringify(body),
      });
    const answers = [
      await fetch(`${openaiUrl}/models`, { headers }),
      await post(`${openaiUrl}/images/generations`, { prompt: 'a lake' }),
      await post(mcpUrl, { jsonrpc: '2.0', id: 1, method: 'tools/list' }),
      await fetch(new URL('/api/operator/v1/accounts', service.machine.apiUrl), { headers }),
      await fetch(new URL('/api/portal/v1/me', portalUrl), { headers }),
    ];
    service.machine.interceptAws((_call, serve) => serve());
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401]);
    expect(tables).toEqual([]);
  });

  it('T25: GET /user-tokens/{id} shows at every moment amounts that add up to the limit, to the minting key only', async () => {
    const client = await wide();
    const minted = await mint(client, { spend_limit: 0.2, max_uses: 100 });
    const racing = burst(30, () => order(minted.token));
    for (let looks = 0; looks < 5; looks += 1) {
      const body = bodyOf(await read(client, minted));
      expect(body.spent).toBeCloseTo(body.uses * 0.01, 9);
      expect(body.spent).toBeLessThanOrEqual(body.spend_limit);
    }
    expect((await racing).accepted).toHaveLength(20);
    const body = bodyOf(await read(client, minted));
    const { token: _text, ...shown } = minted;
    expect(body).toEqual({ ...shown, spent: 0.2, uses: 20, revoked_at: null });
    const { issueKey } = await import('../../admin/commands/keys.ts');
    const second = await issueKey(service.operator, client.account, { name: 'second' });
    const absent = await service.send('/user-tokens/0123456789abcdef', { key: client.key });
    expect(absent.status).toBe(404);
    const stranger = await service.client();
    for (const key of [second.key, stranger.key])
      expect((await service.send(`/user-tokens/${minted.id}`, { key })).text).toBe(absent.text);
    expect((await revoke(stranger.key, minted)).text).toBe(absent.text);
    expect((await revoke(second.key, minted)).status).toBe(200);
  }, 60_000);

  it('At most max_uses uploads are announced by a token', async () => {
    const { token } = await mint(await service.client(), { max_uses: 2 });
    const announce = (): Promise<Answer> =>
      service.send('/uploads', { key: token, body: { content_type: 'image/png', bytes: 1_000 } });
    const answers = [await announce(), await announce(), await announce()];
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 402]);
    expect(refusalOf(answers[2] as Answer).details).toEqual({
      reason: 'token_uses_exceeded',
      limit: 2,
      used: 2,
    });
    expect((await order(token)).status).toBe(202);
  });

  it('The log names a token by its id alone', async () => {
    const { token, id } = await mint(await service.client());
    await order(token);
    expect(service.log.join('\n')).toContain(id);
    expect(service.log.join('\n')).not.toContain(token.slice(-24));
  });
});

interface Received {
  readonly id: string | null;
  readonly verified: boolean;
  readonly body: object;
}

async function webhookOf(id: string): Promise<Received> {
  for (;;) {
    const inbox = (await (await fetch(service.machine.inboxUrl)).json()) as { data: Received[] };
    const found = inbox.data.find((one) => one.id === id);
    if (found) return found;
    await sleep(50);
  }
}

everyAnswer(() => service);
