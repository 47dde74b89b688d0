/**
 * How many AWS calls a request makes one after the other, and how many state transitions an execution takes.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { functionName as nameOf } from '../../../lab/function-name.ts';
import type { AwsCall } from '../../../local/aws/aws-call.ts';
import type { Execution } from '../../../local/step-functions/executions.ts';
import { startTestService } from '../../fixtures/service.ts';
import { idOf } from '../../fixtures/values.ts';
import { settled, submit } from './creations.ts';
import { billOf, prices, totalOf } from '../../../lab/cost/prices.ts';
import { committedCounts, type CreationCount, mapValues } from '../../../lab/cost/counts.ts';
import { measure } from '../../../lab/cost/measure.ts';
import { memoryOf } from '../../../lab/cost/standing.ts';

const service = await startTestService();
const client = await service.client();
afterAll(() => service.end());

/** Each call is held for at least this time, so that calls in parallel overlap. */
const heldMillis = 60;

interface Seen {
  readonly operation: string;
  readonly from: number;
  readonly to: number;
}

/** A start is counted while the execution starts, and the write is often the shorter one. So no round waits for it. */
function isCount({ operation, input }: AwsCall): boolean {
  return operation === 'UpdateItem' && JSON.stringify(input['Key']).includes('OPEN_COUNT');
}

/**
 * The AWS calls of one function during the request, in rounds. Each round begins after the previous round has
 * ended. A call is held until all calls of its expected round have come, so a slow machine changes nothing.
 * If the function makes the calls of a round one after the other, the test never ends.
 */
async function roundsOf(
  functionName: string,
  expected: readonly (readonly string[])[],
  request: () => Promise<unknown>,
): Promise<string[][]> {
  const seen: Seen[] = [];
  const complete = expected.map(() => Promise.withResolvers<undefined>());
  let begun = 0;
  const wholeRound = async (): Promise<void> => {
    const place = begun;
    begun += 1;
    let first = 0;
    for (const [index, { length }] of expected.entries()) {
      if (place === first + length - 1) complete[index]?.resolve(undefined);
      if (place < first + length) return complete[index]?.promise;
      first += length;
    }
  };
  service.machine.interceptAws(async (call, serve) => {
    if (!call.caller.startsWith(functionName) || isCount(call)) return serve();
    const from = performance.now();
    await Promise.all([sleep(heldMillis), wholeRound()]);
    try {
      return await serve();
    } finally {
      seen.push({ operation: call.operation, from, to: performance.now() });
    }
  });
  try {
    await request();
  } finally {
    service.machine.interceptAws((_call, serve) => serve());
  }
  const rounds: Seen[][] = [];
  for (const call of seen.sort((a, b) => a.from - b.from)) {
    const last = rounds.at(-1);
    if (last?.some((other) => call.from < other.to)) last.push(call);
    else rounds.push([call]);
  }
  return rounds.map((round) => round.map(({ operation }) => operation));
}

async function generate(body: object = {}): Promise<string> {
  const answer = await service.send('/images/generate', {
    key: client.key,
    headers: { 'idempotency-key': crypto.randomUUID() },
    body: { model: 'sandbox-sketch', prompt: 'a lake', ...body },
  });
  expect(answer.status).toBe(202);
  return idOf(answer);
}

describe('the AWS calls that a request waits for', () => {
  it('POST /images/generate waits for three AWS calls: a read, the charge and the start', async () => {
    const expected = [['BatchGetItem'], ['TransactWriteItems'], ['StartExecution']];
    expect(
      await roundsOf('GenerateImage', expected, () => generate({ webhook_url: service.machine.inboxUrl })),
    ).toEqual(expected);
  });

  it('POST /images/generate waits for three AWS calls also when the key has every cap', async () => {
    const caps = { dailyCap: '1', monthlyCap: '1', totalCap: '1', perUserMonthlyCap: '1' };
    const { key } = await service.client(caps);
    const body = { model: 'sandbox-sketch', prompt: 'a lake', user: 'customer 7' };
    const expected = [['BatchGetItem'], ['TransactWriteItems'], ['StartExecution']];
    expect(
      await roundsOf('GenerateImage', expected, async () => {
        expect((await service.send('/images/generate', { key, body })).status).toBe(202);
      }),
    ).toEqual(expected);
  });

  it('GET /creations/{id} waits for two AWS calls: a read, then the poll stamp and the rate in parallel', async () => {
    const [earlier, id] = [await generate(), await generate()];
    // The function reads the operator's catalog once a minute. This poll reads the catalog.
    expect((await service.send(`/creations/${earlier}`, { key: client.key })).status).toBe(200);
    const expected = [['BatchGetItem'], ['UpdateItem', 'UpdateItem']];
    expect(
      await roundsOf('GetCreation', expected, async () => {
        expect((await service.send(`/creations/${id}`, { key: client.key })).status).toBe(200);
      }),
    ).toEqual(expected);
  });

  it('GET /models waits for two AWS calls: a read, then the rate', async () => {
    const expected = [['BatchGetItem'], ['UpdateItem']];
    expect(
      await roundsOf('ListModels', expected, async () => {
        expect((await service.send('/models', { key: client.key })).status).toBe(200);
      }),
    ).toEqual(expected);
  });

  it('A request with a malformed key waits for a read and its count, and neither call names an account', async () => {
    const expected = [['BatchGetItem'], ['UpdateItem']];
    expect(
      await roundsOf('ListModels', expected, async () => {
        expect((await service.send('/models', { key: 'dk_live_mistyped' })).status).toBe(401);
      }),
    ).toEqual(expected);
  });
});

/** Waits for the end of an execution: its functions make no call after this. A creation ends a moment earlier. */
async function executed(id: string): Promise<Execution> {
  const execution = service.machine.executions.list().find(({ name }) => name === id);
  if (!execution) throw new Error(`there is no execution ${id}`);
  await expect.poll(() => execution.status).toBe('SUCCEEDED');
  return execution;
}

/** The functions that render during this work, by the calls of their roles. */
async function renderersDuring(work: () => Promise<void>): Promise<string[]> {
  const callers = new Set<string>();
  service.machine.interceptAws((call, serve) => {
    callers.add(call.caller);
    return serve();
  });
  await work();
  service.machine.interceptAws((_call, serve) => serve());
  const { functions } = service.machine.template;
  const used = functions.filter(({ id, roleId }) => id.startsWith('RenderImage') && callers.has(roleId));
  return used.map(({ id }) => nameOf(id));
}

describe('the state transitions of an execution', () => {
  // The creations of the tests above render on, and their functions call AWS.
  beforeAll(async () => {
    const { executions } = service.machine;
    await vi.waitUntil(() => executions.list().every(({ status }) => status !== 'RUNNING'), 110_000);
  });

  async function tasksOf(prompt: string): Promise<string[]> {
    const id = await submit(service, client.key, { prompt, webhook_url: service.machine.inboxUrl });
    await settled(service, id);
    const history = (await executed(id)).history;
    expect(history.filter(({ type }) => type === 'StateRetried')).toEqual([]);
    return history.filter(({ type }) => type === 'StateEntered').map(({ state }) => state ?? '');
  }

  it.each([
    [{ model: 'sandbox-sketch' }, 'RenderImageSmall'],
    [{ model: 'sandbox-standard', resolution: '2K' }, 'RenderImageLarge'],
    [{ model: 'sandbox-pro', resolution: '4K' }, 'RenderImageLarge'],
  ])('A creation of %j is rendered by %s', async (body, name) => {
    const used = await renderersDuring(async () => {
      const id = await submit(service, client.key, { prompt: 'a lake [sandbox:fail]', ...body });
      await settled(service, id);
      await executed(id);
    });
    expect(used).toEqual([name]);
  });

  it('An execution that fails takes three state transitions', async () => {
    expect(await tasksOf('a lake [sandbox:fail]')).toEqual(['RenderImage', 'RefundCharge', 'DeliverWebhook']);
  });
});

/** The same without the two PUTs and the update of the record, which takes two units. */
function withoutThumbnails(count: CreationCount): CreationCount {
  return {
    ...count,
    functions: mapValues(count.functions, ({ calls, ...one }) => {
      const { 's3 PutObject of a thumbnail': puts, 'dynamodb UpdateItem': updates = 0, ...others } = calls;
      if (puts === undefined) return { ...one, calls };
      return {
        ...one,
        writeUnits: one.writeUnits - 2,
        calls: { ...others, 'dynamodb UpdateItem': updates - 1 },
      };
    }),
  };
}

it('A success with webhook and Idempotency-Key takes one transition, the units that docs/cost.md says, and at most 0.059 USD for 1,000 without its thumbnails, which are at most 0.003 USD and two PUTs', async () => {
  const kind = 'success, webhook, Idempotency-Key';
  // test/lab/cost-page.test.ts compares docs/cost.md with these counts.
  const { kinds } = committedCounts;
  const count = (await measure(2, () => undefined, [kind])).kinds[kind];
  const units = ({ functions }: CreationCount) =>
    mapValues(functions, ({ readUnits, writeUnits }) => ({ readUnits, writeUnits }));
  expect(count.transitions).toBe(1);
  expect(units(count)).toEqual(units(kinds[kind]));
  // CPU time depends on the machine, so the test takes the committed one.
  const functions = mapValues(count.functions, (one, name) => ({
    ...one,
    cpuMillis: kinds[kind].functions[name]?.cpuMillis ?? 0,
  }));
  const report = { kinds: { ...kinds, [kind]: { ...count, functions } }, memory: await memoryOf() };
  const bill = billOf(kind, report);
  expect(bill['Storing its thumbnails']).toBeCloseTo(1000 * 2 * prices.objectPut, 9);
  const whole = totalOf(bill) - bill['Storing its thumbnails'];
  const plain = totalOf(billOf(kind, { ...report, kinds: { ...kinds, [kind]: withoutThumbnails(count) } }));
  expect(plain).toBeLessThanOrEqual(0.059);
  expect(whole - plain).toBeLessThanOrEqual(0.003);
});
