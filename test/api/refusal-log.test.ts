/** The log of refused requests: what a row costs, what it shows, and what a storm of refusals writes. */
import { describe, expect, it } from 'vitest';
import { createMeteredTable } from './metered-table.ts';
import type { RefusedCaller } from '../../service/api/refusal-store.ts';
import type { ApiRequest } from '../../service/api/request.ts';
import { keyInvalid, rateExceeded } from '../../service/api/problems.ts';
import type { AccountId, TokenId } from '../../service/values/ids.ts';
import { invalidRequest, type Problem } from '../../service/values/problem.ts';
import { accountId, apiKeyText, keyId, now } from '../fixtures/records.ts';
import { fakeLog } from './fakes.ts';
import { aRequest, refusalsOf } from './refusal-fixture.ts';

const caller: RefusedCaller = { accountId, keyId };
const minute = 60_000;

const wrong = invalidRequest([
  { field: 'resolution', code: 'invalid_value', message: 'must be one of "1K", "2K", "4K"' },
]);

/** @param answer what the table does instead of an answer */
function aLog({ days = '90', answer }: { days?: string; answer?: () => Promise<never> } = {}) {
  const table = createMeteredTable(answer);
  const log = fakeLog();
  const open = refusalsOf(
    { ...table, name: 'table', randomBytes: (count) => new Uint8Array(count) },
    log,
    days,
  );
  const note = (request = aRequest(), problem: Problem = wrong, by = caller): Promise<void> =>
    open().note(request, by, problem);
  return { ...table, log, note };
}

describe('a row of a refused request', () => {
  it('A row says when, by which door and key, and why, and shows the network of the client', async () => {
    const { note, rows } = aLog();
    await note(
      aRequest({
        path: '/openai/v1/images/generations',
        query: { limit: '0' },
        text: '{"resolution":"8K"}',
        sourceIp: '2001:DB8:7:1::9',
      }),
      wrong,
      { accountId, keyId, tokenId: 'Key001UUUUUUUTTT' as TokenId },
    );
    expect(rows()).toEqual([
      {
        pk: 'ACCOUNT#Acc0unt001#REFUSED',
        sk: 'REFUSED#2026-11-21T12:00:30.000Z#request-1',
        at: '2026-11-21T12:00:30.000Z',
        door: 'openai',
        method: 'POST',
        path: '/openai/v1/images/generations?limit=0',
        status: 400,
        code: 'ERR_INVALID_REQUEST',
        field: 'resolution',
        message: 'resolution: must be one of "1K", "2K", "4K"',
        keyId,
        tokenId: 'Key001UUUUUUUTTT',
        requestId: 'request-1',
        millis: 0,
        address: '2001:db8:7::/48',
        body: '{"resolution":"8K"}',
        expiresAtSeconds: now / 1000 + 7 * 86_400,
      },
    ]);
  });

  it.each(['a'.repeat(9_000), '"\\ \n'.repeat(900), '雪 '.repeat(2_000), '😀 '.repeat(2_000)])(
    'A row of the body %.8s takes one write unit, and nearly all of it',
    async (prompt) => {
      const { note, units, largest } = aLog();
      const field = `${'f '.repeat(40)}ü`;
      await note(
        aRequest({
          path: `/api/public/v1/${'p/'.repeat(90)}`,
          query: { q: 'ü '.repeat(90) },
          text: JSON.stringify({ words: prompt.replaceAll('a', 'a ') }),
        }),
        invalidRequest([{ field, code: 'unknown_field', message: 'm '.repeat(200) }]),
      );
      expect(units()).toBe(1);
      expect(largest()).toBeGreaterThan(850);
    },
  );

  it.each([
    ['7 days', '90', 7],
    ['7 days if the texts of creations are kept for good', '0', 7],
    ['no longer than the texts of creations', '2', 2],
  ])('A row is kept for %s', async (_words, days, kept) => {
    const { note, rows } = aLog({ days });
    await note();
    expect(rows()[0]?.['expiresAtSeconds']).toBe(now / 1000 + kept * 86_400);
  });

  const secret = 'S3cr3tOfTheClient';
  /** The first 4,096 characters of a body end with this text. Hardly anything of what stands before is kept. */
  const cutByTheLimit = (end: string): string => {
    const before = 'https://a.test/?'.padEnd(4_095 - end.length, 'a.');
    return `${before} ${end}@b.test/`;
  };
  it.each([
    ['a key', JSON.stringify({ prompt: `a ${apiKeyText} b` }), apiKeyText],
    ['a key behind an escape', `{"prompt":"dk_liv\\u0065_${secret}"}`, secret],
    ['a token of a user', JSON.stringify({ prompt: `dk_user_${secret}` }), secret],
    ['a secret of webhooks', JSON.stringify({ metadata: { a: `whsec_${secret}` } }), secret],
    ['a key in no JSON', `prompt=x&key=dk_live_${secret}`, secret],
    ['a bearer', JSON.stringify({ prompt: `Authorization: Bearer ${secret}.x.y` }), secret],
    [
      'a member of that name',
      JSON.stringify({ metadata: { client_secret: `${secret} "quoted" end` } }),
      secret,
    ],
    ['a signed address', JSON.stringify({ image_urls: [`https://a.test/b.png?X-Sig=${secret}`] }), secret],
    ['a password', JSON.stringify({ webhook_url: `https://user:${secret}@a.test/` }), secret],
    ['a fragment', JSON.stringify({ webhook_url: `https://a.test/#${secret}` }), secret],
    ['a data address', JSON.stringify({ image_urls: [`data:image/png;base64,${secret}`] }), secret],
    ['base64', JSON.stringify({ image: `iVBORw0KGgo/${secret}+${'A'.repeat(30)}` }), secret],
    ['a password that the limit cuts', cutByTheLimit(`https://user:${secret}`), secret],
  ])('No row shows %s of a body', async (_name, text, hidden) => {
    const { note, text: stored } = aLog();
    await note(aRequest({ text }));
    expect(stored()).toContain('request-1');
    expect(stored()).not.toContain(hidden);
  });

  it('No row shows a key in the query, in a field or in a message', async () => {
    const { note, text } = aLog();
    const field = `dk_live_${secret}`;
    const query = { key: field, cursor: 'A'.repeat(30) + secret };
    await note(
      aRequest({ query }),
      invalidRequest([{ field, code: 'required', message: `Bearer ${secret}` }]),
    );
    expect(text()).not.toContain(secret);
  });

  it.each([
    ['a picture', Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 0x10, 0x4a])],
    ['a form with a picture', Buffer.concat([Buffer.from('--b\r\n\r\n'), Buffer.from([0x89, 0x50, 0, 1])])],
    ['nothing', Buffer.alloc(0)],
  ])('The row of a body with %s shows no body', async (_name, body) => {
    const { note, rows } = aLog();
    await note(aRequest({ body }));
    expect(rows()[0]).not.toHaveProperty('body');
  });

  it('Bodies of 256 KiB that are made to be slow are cut as any others', async () => {
    const { note, rows } = aLog();
    const parts = ['https://', 'data:', 'bearer ', '"secret":"\\"', 'a/', '"a'];
    for (const part of parts)
      await note(aRequest({ text: part.repeat(262_144 / part.length), requestId: `of ${part.length}` }));
    expect(rows()).toHaveLength(new Set(parts.map(({ length }) => length)).size);
  });
});

describe('the wait for a row', () => {
  it('A table that does not answer holds the answer for 200 ms at most, and the log says so', async () => {
    const { note, clock, log } = aLog({ answer: () => new Promise<never>(() => undefined) });
    const noted = note();
    clock.set(now + 199);
    let isOver = false;
    void noted.then(() => (isOver = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect(isOver).toBe(false);
    clock.set(now + 200);
    await noted;
    expect(log.lines).toEqual(['info refusal_not_noted']);
    expect(clock.held).toBe(0);
  });

  it('A table that refuses the row changes nothing for the request', async () => {
    const { note, log } = aLog({ answer: () => Promise.reject(new Error('a secret')) });
    await note();
    expect(log.entries).toEqual([['info refusal_not_noted', { error: 'Error' }]]);
  });
});

describe('many refusals', () => {
  const late = rateExceeded('post', 60, 30);

  it('The first ten of a kind in a minute have rows, and one item counts the others exactly', async () => {
    const { note, rows, units, clock } = aLog();
    for (let number = 1; number <= 500; number += 1) {
      clock.set(now + number);
      await note(aRequest({ requestId: `request-${number}`, text: `{"number":${number}}` }), late);
    }
    expect(rows()).toHaveLength(11);
    expect(rows().filter(({ count }) => count === undefined)).toHaveLength(10);
    expect(rows().at(-1)).toMatchObject({
      sk: 'REFUSED#2026-11-21T12:00:59.999Z#api#429#ERR_RATE_LIMIT',
      count: 490,
      requestId: 'request-500',
      body: '{"number":500}',
    });
    expect(units()).toBe(500);
  });

  it('Each kind, each account and each minute has its own ten rows', async () => {
    const { note, rows, clock } = aLog();
    const other = { accountId: 'Acc0unt002' as AccountId, keyId };
    for (let number = 1; number <= 12; number += 1) {
      const request = (of: string): ApiRequest => aRequest({ requestId: `${of}-${number}` });
      await note(request('api'), late);
      await note({ ...request('mcp'), path: '/mcp' }, late);
      await note(request('revoked'), keyInvalid('was revoked'));
      await note(request('other'), late, other);
    }
    clock.set(now + minute);
    for (let number = 1; number <= 12; number += 1)
      await note(aRequest({ requestId: `late-${number}` }), late);
    expect(rows()).toHaveLength(5 * 11);
    expect(rows().filter(({ count }) => count === 2)).toHaveLength(5);
  });
});
