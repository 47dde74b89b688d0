/** The limits of AWS as the simulation of load imitates them. */
import { expect, it } from 'vitest';
import { defaultQuotas } from '../../../admin/preflight/quotas/quotas.ts';
import { type AwsAccount, createAwsAccount } from '../../../lab/simulation/aws/aws-account.ts';
import { type AwsQuotas, awsQuotasOf, lambdaLimits } from '../../../lab/simulation/aws/quotas.ts';
import { createTokenBucket } from '../../../lab/simulation/aws/token-bucket.ts';

const usual = awsQuotasOf(defaultQuotas);
let nowMillis = 1_000_000;
const now = (): number => nowMillis;

function accountOf(quotas: Partial<AwsQuotas> = {}): AwsAccount {
  return createAwsAccount(now, { ...usual, reserved: [], ...quotas });
}

/** How many of so many calls are done before one is refused. */
function doneOf(calls: number, call: () => unknown): number {
  for (let done = 0; done < calls; done += 1) {
    try {
      if (call() === undefined) return done;
    } catch {
      return done;
    }
  }
  return calls;
}

it('A bucket gives its burst at once, and then its rate', () => {
  const bucket = createTokenBucket(now, { burst: 5, perSecond: 2 });
  const take = (): true | undefined => bucket.take() || undefined;
  expect(doneOf(10, take)).toBe(5);
  expect(bucket.millisToNext()).toBe(500);
  nowMillis += 1_000;
  expect(doneOf(10, take)).toBe(2);
});

it('Lambda runs as many invocations at the same time as the account may have', () => {
  const { functions, refusals } = accountOf({ concurrency: 7 });
  expect(doneOf(20, () => functions.begin('get'))).toBe(7);
  expect([...refusals.keys()]).toEqual(['concurrency of the account']);
});

it('Reserved concurrency is a limit of its function, and taken from all others', () => {
  const { functions } = accountOf({
    concurrency: 10,
    reserved: [{ function: 'get', concurrency: 4 }],
  });
  expect(doneOf(20, () => functions.begin('RenderImageSmall'))).toBe(6);
  expect(doneOf(20, () => functions.begin('get'))).toBe(4);
  expect(functions.begin('generate')).toBeUndefined();
});

it('An environment takes at most ten invocations a second, however short they are', () => {
  const { functions, refusals } = accountOf({
    concurrency: 10,
    reserved: [{ function: 'get', concurrency: 4 }],
  });
  const short = (name: string): boolean => {
    const running = functions.begin(name);
    nowMillis += 1;
    running?.end();
    return running !== undefined;
  };
  const servedOf = (times: number, name: string): number =>
    Array.from({ length: times }, () => short(name)).filter(Boolean).length;
  expect(servedOf(90, 'get')).toBe(4);
  expect([...refusals.keys()]).toEqual(['reserved concurrency of get']);
  nowMillis += 100;
  expect(servedOf(900, 'get')).toBe(4 * 9);
  expect(servedOf(100, 'generate')).toBe(6);
});

it('The reservations of the simulation are those by which the stack divides the setting concurrency', () => {
  const { reserved } = awsQuotasOf({
    ...defaultQuotas,
    concurrency: { ...defaultQuotas.concurrency, api: 20, deliveries: 3 },
  });
  expect(Object.fromEntries(reserved.map((one) => [one.function, one.concurrency]))).toEqual({
    held: 150,
    generate: 10,
    get: 8,
    upload: 1,
    cancel: 1,
    DeliverWebhook: 3,
  });
});

it('A function gets at most 1,000 new environments in ten seconds, and uses idle ones again', () => {
  const { functions, refusals } = accountOf({ concurrency: 10_000 });
  const running = Array.from({ length: 1_000 }, () => functions.begin('get'));
  expect(running.every((one) => one?.coldMillis === lambdaLimits.coldStartMillis)).toBe(true);
  expect(functions.begin('get')).toBeUndefined();
  expect([...refusals.keys()]).toEqual(['scaling of get']);
  nowMillis += 10;
  expect(doneOf(20, () => functions.begin('get'))).toBe(1);
  nowMillis += 100;
  running[0]?.end();
  expect(functions.begin('get')).toMatchObject({ coldMillis: 0 });
});

it('A route lets its burst through and refuses the rest, and so do the stage and the account', () => {
  const { admitsRequest, refusals } = accountOf({
    route: { burst: 3, perSecond: 1 },
    stage: { burst: 5, perSecond: 1 },
    gateway: { burst: 4, perSecond: 1 },
  });
  const admitted = (route: string): number => doneOf(10, () => admitsRequest(route) || undefined);
  expect(admitted('get')).toBe(3);
  expect(admitted('generate')).toBe(1);
  expect(admitted('callback')).toBe(0);
  expect([...refusals.keys()]).toEqual([
    'throttle of get',
    'requests of the account',
    'throttle of the stage',
  ]);
});

it('A state transition waits for its turn when the bucket is empty', () => {
  const { quotas, transitionWait } = accountOf({
    steps: { ...usual.steps, stateTransitions: { burst: 2, perSecond: 10 } },
  });
  expect(quotas.steps.stateTransitions.burst).toBe(2);
  expect(Array.from({ length: 4 }, transitionWait)).toEqual([0, 0, 100, 200]);
});

/** Puts one item of a kilobyte, and reports the commit to the table. */
function putter(account: AwsAccount, pk: (number: number) => string, sk: string): () => object {
  const table = account.tableOf(() => undefined);
  let put = 0;
  return () => {
    put += 1;
    const item = { pk: { S: pk(put) }, sk: { S: sk } };
    return table.serve('PutItem', { TableName: 'table', Item: item }, () => {
      table.onCommit([{ pk: item.pk.S, sk, before: undefined, after: item }]);
      return {};
    });
  };
}

it('A partition key takes 1,000 write units a second', () => {
  const account = accountOf();
  expect(
    doneOf(
      5_000,
      putter(account, () => 'ACCOUNT#1', 'ACCOUNT'),
    ),
  ).toBe(1_000);
  expect([...account.refusals.keys()]).toEqual(['writes of the partition ACCOUNT']);
});

it('A table that is new takes 4,000 write units a second', () => {
  const account = accountOf();
  expect(
    doneOf(
      9_000,
      putter(account, (number) => `ACCOUNT#${number}`, 'ACCOUNT'),
    ),
  ).toBe(4_000);
  expect([...account.refusals.keys()]).toEqual(['writes of the table']);
});

it('A table that is warm takes what its quota allows', () => {
  const account = accountOf({ warm: { writeUnits: 60_000, readUnits: 60_000 } });
  expect(
    doneOf(
      90_000,
      putter(account, (number) => `ACCOUNT#${number}`, 'ACCOUNT'),
    ),
  ).toBe(40_000);
});

it('A partition of an index that is full refuses the writes of the table that change it', () => {
  const account = accountOf({ warm: { writeUnits: 9_000, readUnits: 9_000 } });
  const table = account.tableOf(() => undefined);
  let put = 0;
  const putOpen = (): object => {
    put += 1;
    const pk = `CREATION#${put}`;
    const item = {
      pk: { S: pk },
      sk: { S: 'CREATION' },
      openShard: { S: 'OPEN#1' },
      dueAt: { N: String(put) },
    };
    return table.serve('PutItem', { TableName: 'table', Item: item }, () => {
      table.onCommit([{ pk, sk: 'CREATION', before: undefined, after: item }]);
      return {};
    });
  };
  expect(doneOf(3_000, putOpen)).toBe(1_000);
  expect([...account.refusals.keys()]).toEqual(['writes of the index open_work, OPEN']);
  const change = {
    Key: { pk: { S: 'CREATION#1' }, sk: { S: 'CREATION' } },
    UpdateExpression: 'SET prompt = :p',
  };
  expect(table.serve('UpdateItem', change, () => ({}))).toEqual({});
});

it('A write in a transaction costs twice', () => {
  const account = accountOf();
  const table = account.tableOf(() => undefined);
  const item = { pk: { S: 'ACCOUNT#1' }, sk: { S: 'ACCOUNT' } };
  const transaction = { TransactItems: [{ Put: { TableName: 'table', Item: item } }] };
  table.serve('TransactWriteItems', transaction, () => {
    table.onCommit([{ pk: 'ACCOUNT#1', sk: 'ACCOUNT', before: undefined, after: item }]);
    return {};
  });
  expect(table.used().writeUnits).toBe(2);
});
