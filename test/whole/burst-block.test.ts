import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { keys } from '../../service/aws/dynamodb/table.ts';
import { type Answer, sharedTestService } from '../fixtures/service.ts';
import { everyAnswer } from './every-answer.ts';
import { refusalOf, withinOneMinute } from './refusal.ts';

const service = await sharedTestService();
const client = await service.client();
afterAll(() => service.end());
beforeEach(() => {
  withinOneMinute(service);
});

const blocked = { status: 429, code: 'ERR_RATE_LIMIT', details: { reason: 'burst_block' } };

const ask = (from: string, key: string | null): Promise<Answer> => service.send('/balance', { key, from });

async function rejected(times: number, from: string, key: string | null = null): Promise<number[]> {
  const answers = await Promise.all(Array.from({ length: times }, () => ask(from, key)));
  return [...new Set(answers.map(({ status }) => status))];
}

async function scopeOf(address: string): Promise<unknown> {
  const { table } = service.operator;
  return (
    await table.client.send(
      new GetCommand({ TableName: table.name, Key: keys.block(address), ConsistentRead: true }),
    )
  ).Item?.['scope'];
}

describe('twenty rejected authentications of one address in a minute', () => {
  it('After twenty rejections every request of the address is answered 429 burst_block with a Retry-After of at most 120 s, also with a valid key', async () => {
    expect(await rejected(20, '127.0.0.2')).toEqual([401]);
    const [anonymous, valid] = [await ask('127.0.0.2', null), await ask('127.0.0.2', client.key)];
    for (const answer of [anonymous, valid]) {
      expect(refusalOf(answer)).toEqual(blocked);
      expect(answer.headers.get('retry-after')).toBe('120');
    }
  });

  it('Twenty answers 401 block all API traffic of the address', async () => {
    expect(await scopeOf('127.0.0.2')).toBe('all');
  });

  it('Twenty rejections leave every other address alone', async () => {
    expect((await ask('127.0.0.3', client.key)).status).toBe(200);
  });

  it('Rejections of wrong keys count like rejections without a key', async () => {
    expect(await rejected(10, '127.0.0.4')).toEqual([401]);
    expect(await rejected(10, '127.0.0.4', 'dk_live_nonsense')).toEqual([401]);
    expect(refusalOf(await ask('127.0.0.4', client.key))).toEqual(blocked);
  });

  it.each([
    ['suspended', '127.0.0.5'],
    ['disabled', '127.0.0.6'],
  ] as const)('Twenty answers 403 of a %s account block the public API only', async (condition, from) => {
    const paused = await service.client();
    await service.operator.accounts.change(paused.account.id, { condition });
    expect(await rejected(20, from, paused.key)).toEqual([403]);
    expect(refusalOf(await ask(from, client.key))).toEqual(blocked);
    expect(await scopeOf(from)).toBe('public');
  });

  it('A loop of 403 never narrows the block of a loop of 401 that ends at the same time', async () => {
    const paused = await service.client();
    await service.operator.accounts.change(paused.account.id, { condition: 'suspended' });
    await rejected(19, '127.0.0.7', paused.key);
    await rejected(19, '127.0.0.7');
    // Both loops lack one rejection. Both requests read that there is no block. Then the 401 counts and ends,
    // and then the 403 counts.
    const [read, ended] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
    service.machine.interceptAws(async (call, serve) => {
      const counted = call.operation === 'UpdateItem' ? JSON.stringify(call.input) : '';
      if (counted.includes('REJECTED#401')) await read.promise;
      if (counted.includes('REJECTED#403')) {
        read.resolve(undefined);
        await ended.promise;
      }
      return serve();
    });
    const last = await Promise.all([
      ask('127.0.0.7', paused.key),
      ask('127.0.0.7', null).finally(() => {
        ended.resolve(undefined);
      }),
    ]);
    service.machine.interceptAws((_call, serve) => serve());
    expect(last.map(({ status }) => status)).toEqual([403, 401]);
    expect(refusalOf(await ask('127.0.0.7', client.key))).toEqual(blocked);
    expect(await scopeOf('127.0.0.7')).toBe('all');
  });
});

describe('an address that is not blocked', () => {
  it('Nineteen rejections do not block the address', async () => {
    expect(await rejected(19, '127.0.0.8')).toEqual([401]);
    expect((await ask('127.0.0.8', client.key)).status).toBe(200);
  });

  it('Rejections that are spread over two minutes do not block the address', async () => {
    await rejected(12, '127.0.0.9');
    service.jump(60);
    await rejected(12, '127.0.0.9');
    expect((await ask('127.0.0.9', client.key)).status).toBe(200);
  });

  it('Refusals after the authentication do not block the address', async () => {
    const answers = await Promise.all(
      Array.from({ length: 25 }, () => service.send('/nothing', { key: client.key, from: '127.0.0.10' })),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([404]));
    expect((await ask('127.0.0.10', client.key)).status).toBe(200);
  });
});

it('A block ends by itself 120 seconds after the last rejection, and requests during the block do not lengthen it', async () => {
  await rejected(20, '127.0.0.11');
  service.jump(60);
  expect(refusalOf(await ask('127.0.0.11', null))).toEqual(blocked);
  service.jump(61);
  expect((await ask('127.0.0.11', client.key)).status).toBe(200);
});

everyAnswer(() => service);
