import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { createAccount } from '../../admin/commands/accounts.ts';
import { issueKey } from '../../admin/commands/keys.ts';
import { keys } from '../../service/aws/dynamodb/table.ts';
import { defaultLimits } from '../../service/contract/limits.ts';
import { readSum } from '../../service/creations/service-state-store.ts';
import { type Answer, type Client, sharedTestService, startTestService } from '../fixtures/service.ts';
import { idOf, monthBegin } from '../fixtures/values.ts';
import { everyAnswer } from './every-answer.ts';
import { refusalOf, withinOneMinute } from './refusal.ts';

const service = await sharedTestService();
afterAll(() => service.end());

const sketch = { model: 'sandbox-sketch', prompt: 'a pier at low tide' };

const submit = ({ key }: Client, body: object = sketch): Promise<Answer> =>
  service.send('/images/generate', { key, body });
const quote = ({ key }: Client, body: object = sketch): Promise<Answer> =>
  service.send('/images/quote', { key, body });
const left = ({ headers }: Answer): number => Number(/;r=(\d+);/.exec(headers.get('ratelimit') ?? '')?.[1]);

describe('the limits of a new account', () => {
  it('A new account has the limits of the deployment, except those that it is given', async () => {
    const deployment = {
      ...service.operator,
      defaultLimits: {
        ...{ postRate: 6, getRate: 7, userPostRate: 2, userGetRate: 3 },
        ...{ maxConcurrent: 8, deadlineSeconds: 9, maxUnusedUploads: 10 },
      },
    };
    const { id } = await createAccount(deployment, { name: 'Studio', getRate: '70' });
    expect((await service.account(id)).limits).toEqual({
      postRate: 6,
      getRate: 70,
      userPostRate: 2,
      userGetRate: 3,
      maxConcurrent: 8,
      deadlineSeconds: 9,
      maxUnusedUploads: 10,
    });
  });

  it('A new account may send 60 POST and 600 GET requests a minute, and have 20 creations open', async () => {
    expect(service.operator.defaultLimits).toEqual(defaultLimits);
    const client = await service.client();
    const balance = await service.send('/balance', { key: client.key });
    const policies = [await quote(client), balance].map(({ headers }) => headers.get('ratelimit-policy'));
    expect(policies).toEqual(['"post";q=60;w=60', '"get";q=600;w=60']);
    expect(balance.body).toMatchObject({ max_concurrent: 20 });
  });
});

describe('the rate of POST requests', () => {
  it('A request above the rate is answered 429 ERR_RATE_LIMIT, account_rate, and succeeds when the window ends', async () => {
    const client = await service.client({ postRate: '3' });
    withinOneMinute(service);
    const answers = [await quote(client), await quote(client), await quote(client), await quote(client)];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
    expect(answers.map(left)).toEqual([2, 1, 0, 0]);
    const [, , , last] = answers as [Answer, Answer, Answer, Answer];
    expect(refusalOf(last)).toEqual({
      status: 429,
      code: 'ERR_RATE_LIMIT',
      details: { reason: 'account_rate', limit: 3, window_seconds: 60 },
    });
    expect(last.headers.get('ratelimit-policy')).toBe('"post";q=3;w=60');
    const wait = Number(last.headers.get('retry-after'));
    expect(last.headers.get('ratelimit')).toBe(`"post";r=0;t=${wait}`);
    service.jump(wait);
    expect((await quote(client)).status).toBe(200);
  });

  it('A refused request counts, and an accepted submission counts once', async () => {
    const client = await service.client({ postRate: '6', balance: '0.01' });
    withinOneMinute(service);
    const answers = [
      await submit(client, { nonsense: true }),
      await submit(client, { ...sketch, model: 'no-such-model' }),
      await submit(client),
      await submit(client),
      await service.send('/nothing', { key: client.key, body: {} }),
      await quote(client),
    ];
    expect(answers.map(({ status }) => status)).toEqual([400, 404, 202, 402, 404, 200]);
    expect(answers.map(left)).toEqual([5, 4, 3, 2, 1, 0]);
    expect((await submit(client)).status).toBe(429);
  });
});

describe('the rate of GET requests', () => {
  it('A request above the rate is answered 429 account_rate, apart from the rate of POST requests', async () => {
    const { key } = await service.client({ getRate: '2', postRate: '1' });
    withinOneMinute(service);
    const answers = [
      await service.send('/models', { key }),
      await service.send('/creations', { key }),
      await service.send('/balance', { key }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(refusalOf(answers[2] as Answer)).toEqual({
      status: 429,
      code: 'ERR_RATE_LIMIT',
      details: { reason: 'account_rate', limit: 2, window_seconds: 60 },
    });
    expect((await service.send('/images/quote', { key, body: sketch })).status).toBe(200);
  });
});

describe('the polling interval of a creation', () => {
  it('A second poll of a creation within a second is answered 429 ERR_RATE_LIMIT, poll_interval, with Retry-After 1', async () => {
    const client = await service.client();
    const [one, other] = [idOf(await submit(client)), idOf(await submit(client))];
    await Promise.all([service.ended(one), service.ended(other)]);
    const poll = (id: string): Promise<Answer> => service.send(`/creations/${id}`, { key: client.key });
    const [first, again] = await Promise.all([poll(one), poll(one)]);
    expect([first.status, again.status].sort()).toEqual([200, 429]);
    const tooFast = first.status === 429 ? first : again;
    expect(refusalOf(tooFast)).toEqual({
      status: 429,
      code: 'ERR_RATE_LIMIT',
      details: { reason: 'poll_interval', interval_seconds: 1 },
    });
    expect(tooFast.headers.get('retry-after')).toBe('1');
    expect((await poll(other)).status).toBe(200);
    service.jump(1);
    expect((await poll(one)).status).toBe(200);
  });
});

describe('quota: 429 ERR_QUOTA_EXCEEDED', () => {
  it('An account with as many open creations as it may have is refused, and accepted again when one of them ends', async () => {
    const client = await service.client({ maxConcurrent: '3' });
    // Nothing is rendered until the test has seen the refusals.
    const refused = Promise.withResolvers<undefined>();
    service.machine.interceptAws(async (call, serve) => {
      if (call.caller.startsWith('RenderImage')) await refused.promise;
      return serve();
    });
    const full = (limit: number): object => ({
      status: 429,
      code: 'ERR_QUOTA_EXCEEDED',
      details: { scope: 'account', reason: 'concurrent_creations', limit, current: 3 },
    });
    const open = [await submit(client), await submit(client), await submit(client)];
    expect(open.map(({ status }) => status)).toEqual([202, 202, 202]);
    expect(refusalOf(await submit(client))).toEqual(full(3));
    await service.operator.accounts.change(client.account.id, { maxConcurrent: 1 });
    expect(refusalOf(await submit(client))).toEqual(full(1));
    refused.resolve(undefined);
    service.machine.interceptAws((_call, serve) => serve());
    for (const answer of open) await service.ended(idOf(answer));
    expect((await submit(client)).status).toBe(202);
  });

  it('The service is full at 2,000 open creations by the last count', async () => {
    // In a service of its own, no creation of another test begins or ends and changes the count meanwhile.
    const own = await startTestService();
    onTestFinished(() => own.end());
    // The reconciler stores its own count once a minute. It has just run, and the clock stands still from now on.
    await own.machine.advance(60);
    withinOneMinute(own);
    const { key } = await own.client();
    const { table } = own.operator;
    const submitAt = async (open: number): Promise<Answer> => {
      await table.client.send(
        new UpdateCommand({
          TableName: table.name,
          Key: keys.service(),
          UpdateExpression: 'SET openCreations = :open, openSum = :sum',
          ExpressionAttributeValues: { ':open': open, ':sum': await readSum(table) },
        }),
      );
      return own.send('/images/generate', { key, body: sketch });
    };
    expect((await submitAt(2_000)).status).toBe(429);
    expect(refusalOf(await submitAt(2_003))).toEqual({
      status: 429,
      code: 'ERR_QUOTA_EXCEEDED',
      details: { scope: 'service', reason: 'capacity', limit: 2_000, current: 2_003 },
    });
    expect((await submitAt(1_999)).status).toBe(202);
  });
});

describe('the monthly budget of a key: 402 ERR_INSUFFICIENT_BALANCE, monthly_budget_exceeded', () => {
  it('The refusal has cap, spent and resets_at, and another key of the account is not affected', async () => {
    const client = await service.client({ monthlyCap: '0.025' });
    expect([(await submit(client)).status, (await submit(client)).status]).toEqual([202, 202]);
    const refused = refusalOf(await submit(client));
    expect(refused).toEqual({
      status: 402,
      code: 'ERR_INSUFFICIENT_BALANCE',
      details: {
        reason: 'monthly_budget_exceeded',
        cap: 0.025,
        spent: 0.02,
        resets_at: monthBegin,
      },
    });
    expect(Date.parse(String(refused.details['resets_at']))).toBeGreaterThan(service.machine.clock.now());
    const { key } = await issueKey(service.operator, client.account, { name: 'another' });
    expect((await submit({ ...client, key })).status).toBe(202);
  });
});

everyAnswer(() => service);
