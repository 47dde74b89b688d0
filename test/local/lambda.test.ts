import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { DeleteFunctionCommand, LambdaClient, ListAliasesCommand } from '@aws-sdk/client-lambda';
import { describe, expect, it, test, vi } from 'vitest';
import { openFunctionVersions } from '../../local/aws/function-versions.ts';
import { isObject, type JsonObject } from '../../local/json.ts';
import type { InvocationResult } from '../../local/lambda/messages.ts';
import { startEndpoint } from './aws/endpoint-fixture.ts';
import { crashes, createRunner, failure, oneWorker } from './lambda-fixture.ts';
import { newFolder } from './machine-fixture.ts';

test('A version is published when the code or the configuration has changed, and its number is never used again', async () => {
  const file = path.join(newFolder(), 'lambda', 'versions.json');
  let now = 1_000;
  const open = (): ReturnType<typeof openFunctionVersions> => openFunctionVersions(file, () => now);
  expect([open().publish('Render', 'a'), open().publish('Render', 'a')]).toEqual(['1', '1']);
  now = 2_000;
  expect([open().publish('Render', 'b'), open().publish('Refund', 'c')]).toEqual(['2', '1']);
  const call = async (operation: string, input: Record<string, unknown>): Promise<Record<string, unknown>> =>
    open().serviceFor(
      ['Render'],
      [],
    )({ service: 'lambda', operation, caller: 'operator', input: { FunctionName: 'Render', ...input } });
  await call('DeleteFunction', { Qualifier: '2' });
  await expect(call('DeleteFunction', { Qualifier: '2' })).rejects.toMatchObject({
    code: 'ResourceNotFoundException',
  });
  // Going back to an earlier release publishes a version of its own.
  expect(open().publish('Render', 'a')).toBe('3');
  expect(await call('ListVersionsByFunction', {})).toMatchObject({
    Versions: [
      { Version: '$LATEST' },
      { Version: '1', LastModified: '1970-01-01T00:00:01.000+0000' },
      { Version: '3' },
    ],
  });
});

test('A version that an alias names cannot be deleted', async () => {
  const versions = openFunctionVersions(path.join(newFolder(), 'versions.json'), () => 0);
  versions.publish('Get', 'a');
  versions.publish('Get', 'b');
  const { as } = await startEndpoint({
    lambda: versions.serviceFor(['Get'], [{ functionId: 'Get', name: 'live', version: '1' }]),
  });
  const client = new LambdaClient(as('operator'));
  expect(await client.send(new ListAliasesCommand({ FunctionName: 'Get' }))).toMatchObject({
    Aliases: [{ Name: 'live', FunctionVersion: '1' }],
  });
  await expect(
    client.send(new DeleteFunctionCommand({ FunctionName: 'Get', Qualifier: '1' })),
  ).rejects.toMatchObject({ name: 'ResourceConflictException', $metadata: { httpStatusCode: 409 } });
  await client.send(new DeleteFunctionCommand({ FunctionName: 'Get', Qualifier: '2' }));
});

/** The workers of a function: which invocations share one, and what a crash ends. */
function payloadNumber(result: InvocationResult): number {
  if (!result.ok || typeof result.payload !== 'number') throw new Error('the function returned no number');
  return result.payload;
}

describe('the workers of a function', () => {
  const loads = 'globalThis.loaded = Math.random()';

  it('Waiting invocations of a task share one worker', async () => {
    const { invoke } = run(
      'await new Promise((resolve) => setTimeout(resolve, 200)); return globalThis.loaded',
      { top: loads },
    );
    await invoke();
    const results = await Promise.all(Array.from({ length: 60 }, () => invoke()));
    expect(new Set(results.map((result) => JSON.stringify(result))).size).toBe(1);
  });

  it('An idle worker takes several invocations at the same time', async () => {
    const { invoke } = run('return globalThis.loaded', {
      top: loads,
      limits: { ...oneWorker, environmentsWhenBusy: 2 },
    });
    const first = await invoke();
    await setTimeout(600);
    expect(await Promise.all([invoke(), invoke(), invoke()])).toEqual([first, first, first]);
  });

  it('An invocation gets another worker when the present worker is full', async () => {
    const { invoke } = run(
      'await new Promise((resolve) => setTimeout(resolve, 300)); return globalThis.loaded',
      { top: loads, limits: { ...oneWorker, invocationsEach: 2 } },
    );
    const results = await Promise.all(Array.from({ length: 6 }, () => invoke()));
    expect(new Set(results.map((result) => JSON.stringify(result))).size).toBe(3);
  });

  it('A worker serves later invocations while it is warm', async () => {
    const { invoke } = run('return globalThis.loaded', { top: loads });
    expect(await invoke()).toEqual(await invoke());
  });

  it.each(crashes)(
    'An invocation that crashes by %s gets its error and ends alone, and its worker takes no new invocation',
    async (_how, code, errorType, errorMessage) => {
      const { invoke, clock } = run(
        `if (event.crash) { ${code} }
        while (Date.now() < event.until) await new Promise((resolve) => setTimeout(resolve, 5));
        return globalThis.loaded`,
        { top: loads },
      );
      const start = clock.freeze();
      const first = await invoke({ until: 0 });
      const waiting = [invoke({ until: start + 1 }), invoke({ until: start + 1 })];
      const error = await failure(invoke({ crash: true }));
      expect(error).toMatchObject({ errorType, errorMessage: expect.stringMatching(errorMessage) as string });
      const next = await invoke({ until: 0 });
      expect(next).toMatchObject({ ok: true });
      expect(next).not.toEqual(first);
      clock.jumpTo(start + 1);
      expect(await Promise.all(waiting)).toEqual([first, first]);
    },
  );

  it('An invocation can be made to crash while it waits, and the others go on', async () => {
    const { invoke, functions } = run(
      'await new Promise((resolve) => setTimeout(resolve, 500)); return event.n',
    );
    const all = [1, 2, 3].map((n) => invoke({ n }));
    await expect.poll(() => functions.inFlight().filter(({ crash }) => crash).length).toBe(3);
    expect(functions.crash('Other', '')).toBe(0);
    expect(functions.crash('Fn', '"n":4')).toBe(0);
    expect(functions.crash('Fn', '"n":2')).toBe(1);
    expect(await Promise.all(all)).toEqual([
      { ok: true, payload: 1 },
      {
        ok: false,
        error: {
          errorType: 'Runtime.ExitError',
          errorMessage: expect.stringMatching(/exit status 137$/) as unknown,
        },
      },
      { ok: true, payload: 3 },
    ]);
  });

  it('The code of a crashed invocation can reach nobody any more', async () => {
    const reached: (string | undefined)[] = [];
    const server = createServer((incoming, outgoing) => {
      reached.push(incoming.url);
      outgoing.end('{}');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const { invoke } = run(
      `const ask = async (path) => {
        await fetch('http://127.0.0.1:${port}/fetch' + path);
        await new Promise((resolve, reject) =>
          request('http://127.0.0.1:${port}/request' + path, resolve).on('error', reject).end());
      };
      if (event.crash) {
        setTimeout(() => { throw new Error('crash') });
        await new Promise((resolve) => setTimeout(resolve, 100));
        await ask('-after').catch(() => 0);
        try { process.exit(1) } catch { await ask('-after') }
      }
      await new Promise((resolve) => setTimeout(resolve, 500));
      await ask('-innocent')`,
      { top: "import { request } from 'node:http';" },
    );
    const innocent = invoke();
    expect((await failure(invoke({ crash: true }))).errorMessage).toBe('crash');
    expect(await innocent).toMatchObject({ ok: true });
    server.closeAllConnections();
    server.close();
    expect(reached).toEqual(['/fetch-innocent', '/request-innocent']);
  });

  it('A crash that belongs to no open invocation ends the worker and all its invocations', async () => {
    const { invoke } = run('await new Promise((resolve) => setTimeout(resolve, 5_000))', {
      top: "setTimeout(() => { throw new Error('of the module') }, 300)",
    });
    const errors = await Promise.all([failure(invoke()), failure(invoke())]);
    expect(errors.map(({ errorMessage }) => errorMessage)).toEqual(['of the module', 'of the module']);
  });

  it('A new invocation does not wait for a worker that another invocation blocks', async () => {
    const { invoke } = run(
      // Blocks the thread without the processor, which the new worker needs to start.
      `if (event.block) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 4_500);
      return performance.timeOrigin + performance.now()`,
      { timeoutSeconds: 30, limits: { ...oneWorker, environmentsWhenBusy: 2 } },
    );
    await invoke();
    const blocking = invoke({ block: true });
    await setTimeout(1_000);
    const answeredAt = payloadNumber(await invoke());
    expect(answeredAt).toBeLessThan(payloadNumber(await blocking));
  });

  it('An invocation that blocks its worker beyond its time limit takes the others with it', async () => {
    const { invoke } = run(
      // Blocks the thread without the processor.
      `if (event.ready) return;
      if (event.block) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
      await new Promise(() => setInterval(() => 0, 1000))`,
      { timeoutSeconds: 2 },
    );
    // The time limit of an invocation begins when the worker has loaded its bundle.
    await invoke({ ready: true });
    const blocking = invoke({ block: true });
    // The worker dies while the second invocation has most of its time left, also on a busy machine.
    await setTimeout(1_000);
    const errors = await Promise.all([failure(blocking), failure(invoke())]);
    expect(errors.map(({ errorType }) => errorType)).toEqual(['Sandbox.Timedout', 'Runtime.ExitError']);
  });

  it('A worker takes no new request after a time-out, but finishes its open requests', async () => {
    // Each invocation waits for its own instant of the virtual clock. The clock stands until the test moves
    // it.
    const { invoke, clock } = run(
      `while (Date.now() < event.until) await new Promise((resolve) => setTimeout(resolve, 5));
      return globalThis.loaded`,
      { top: loads, timeoutSeconds: 4 },
    );
    const start = clock.freeze();
    const first = await invoke({ until: 0 }, 'gateway');
    const hanging = invoke({ until: Infinity }, 'gateway');
    await setTimeout(2_000);
    const innocent = invoke({ until: start + 1 }, 'gateway');
    expect(await hanging).toMatchObject({ ok: false });
    const next = await invoke({ until: 0 }, 'gateway');
    expect(next).toMatchObject({ ok: true });
    expect(next).not.toEqual(first);
    clock.jumpTo(start + 1);
    expect(await innocent).toEqual(first);
  });

  it('Invocations beyond the limit wait in a queue, first come, first served', async () => {
    const { invoke, functions } = run(
      'await new Promise((resolve) => setTimeout(resolve, 300)); return event.n',
      { timeoutSeconds: 20, limits: { ...oneWorker, invocationsEach: 3, environments: 2 } },
    );
    const all = Array.from({ length: 10 }, (_value, n) => invoke({ n }));
    await expect
      .poll(() => functions.inFlight().filter(({ startedAt }) => startedAt !== undefined).length)
      .toBe(6);
    expect((await Promise.all(all)).map((result) => (result.ok ? result.payload : result.error))).toEqual(
      Array.from({ length: 10 }, (_value, n) => n),
    );
    await expect.poll(() => functions.inFlight()).toEqual([]);
  });

  it('A function that does not exist is answered as Lambda answers', async () => {
    const { functions } = run('return 1');
    expect(await functions.invoke('Nobody', {}, 'task')).toMatchObject({
      ok: false,
      error: { errorType: 'Lambda.ResourceNotFoundException' },
    });
  });
});

/** One function in its worker: what its code sees, and how an invocation ends. */
const run = createRunner();

/** The payload of an invocation that succeeded with an object. */
function payloadOf(result: InvocationResult): JsonObject {
  if (!result.ok || !isObject(result.payload)) throw new Error('the function returned no object');
  return result.payload;
}

describe('a function in its worker', () => {
  it("A function has the environment variables of the template and of Lambda, and none of the service's own", async () => {
    process.env['SECRET_OF_THE_SERVICE'] = 'x';
    const { id, invoke } = run('return process.env', { environment: { TABLE: 'main' } });
    const result = await invoke();
    delete process.env['SECRET_OF_THE_SERVICE'];
    expect(result).toMatchObject({
      ok: true,
      payload: {
        TABLE: 'main',
        AWS_REGION: 'us-east-1',
        AWS_ACCESS_KEY_ID: `${id}Role`,
        AWS_ENDPOINT_URL: 'http://127.0.0.1:1',
        AWS_LAMBDA_FUNCTION_NAME: id,
      },
    });
    const others = Object.keys(payloadOf(result)).filter(
      (name) => !/^(AWS_|TABLE$|LAMBDA_TASK_ROOT$|_HANDLER$)/.test(name),
    );
    expect(others).toEqual([]);
  });

  it("A function gets Lambda's context, with its remaining time in real milliseconds", async () => {
    const { id, invoke } = run('return { ...context, left: context.getRemainingTimeInMillis() }');
    const payload = payloadOf(await invoke());
    expect(payload).toMatchObject({
      functionName: id,
      invokedFunctionArn: `arn:aws:lambda:us-east-1:000000000000:function:${id}`,
    });
    expect(payload['awsRequestId']).toMatch(/^[0-9a-f-]{36}$/);
    expect(payload['left']).toBeGreaterThan(0);
    expect(payload['left']).toBeLessThanOrEqual(5_000);
  });

  it('A function sees the virtual clock in every form of Date, and sees a jump while it runs', async () => {
    const { invoke, clock, log } = run(`
      const before = Date.now();
      console.log('begun');
      while (Date.now() - before < 1_000_000) await new Promise((resolve) => setTimeout(resolve, 5));
      class Own extends Date { days() { return this.getTime(); } }
      const date = new Date();
      const isDate = date instanceof Date && Reflect.construct(Date, [0]) instanceof Date;
      return {
        now: Date.now(), made: date.getTime(), text: Date.parse(Date()), own: new Own().days(), isDate,
        constructor: date.constructor === Date, parse: Date.parse('2020-01-01T00:00:00Z'),
        utc: Date.UTC(2020, 0), given: new Date(5).getTime(), name: Date.name,
        ownIs: new Own() instanceof Own,
      };`);
    const answer = invoke();
    await vi.waitFor(() => {
      expect(log).toHaveLength(1);
    }, 110_000);
    clock.jumpTo(clock.freeze() + 86_400_000);
    const now = clock.now();
    expect(await answer).toEqual({
      ok: true,
      payload: {
        now,
        made: now,
        own: now,
        text: Math.floor(now / 1_000) * 1_000,
        isDate: true,
        constructor: true,
        parse: 1_577_836_800_000,
        utc: 1_577_836_800_000,
        given: 5,
        name: 'Date',
        ownIs: true,
      },
    });
  });

  it('A function fails with the name, the message and the trace of its error', async () => {
    const { invoke } = run('throw Object.assign(new Error("no image"), { name: "NothingRendered" })');
    const error = await failure(invoke());
    expect(error).toMatchObject({ errorType: 'NothingRendered', errorMessage: 'no image' });
    expect(error.trace?.join('\n')).toMatch(/no image[^]*index\.mjs/);
  });

  it('A function ends at its time limit, also when it keeps the processor busy', async () => {
    const { invoke } = run('if (event.spin) for (;;); await new Promise(() => setInterval(() => 0, 1000))', {
      timeoutSeconds: 1,
    });
    for (const event of [{}, { spin: true }]) {
      const error = await failure(invoke(event));
      expect(error.errorType).toBe('Sandbox.Timedout');
      expect(error.errorMessage).toMatch(/Task timed out after 1\.00 seconds$/);
    }
  });

  it('A function fails with the reason when its bundle cannot be loaded', async () => {
    const { invoke } = run('return 1', { top: 'throw new Error("no setting TABLE")' });
    expect(await invoke()).toMatchObject({ ok: false, error: { errorMessage: 'no setting TABLE' } });
  });

  it('A function logs each line under its own request, also when requests share the worker', async () => {
    const { invoke, log } = run(
      `console.log(JSON.stringify({ id: context.awsRequestId, n: 1 }));
      await new Promise((resolve) => setTimeout(resolve, 20));
      console.error("%s two\\nthree", event.n)`,
    );
    await Promise.all([invoke({ n: 'a' }, 'gateway'), invoke({ n: 'b' }, 'gateway')]);
    expect(log).toHaveLength(6);
    const requestOf = (n: string): string | undefined =>
      log.find(({ line }) => line === `${n} two`)?.requestId;
    for (const n of ['a', 'b']) {
      const lines = log.filter(({ requestId }) => requestId === requestOf(n)).map(({ line }) => line);
      expect(lines).toEqual([JSON.stringify({ id: requestOf(n), n: 1 }), `${n} two`, 'three']);
    }
  });
});
