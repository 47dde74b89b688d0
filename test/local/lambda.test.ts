/** One function in its worker: what its code sees, and how an invocation ends. */
import { describe, expect, it, vi } from 'vitest';
import { isObject, type JsonObject } from '../../local/json.ts';
import type { InvocationResult } from '../../local/lambda/messages.ts';
import { crashes, createRunner, failure } from './lambda-fixture.ts';

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

  it.each(crashes)(
    'A function that ends by %s gets its error, and the service goes on',
    async (_how, code, errorType, errorMessage) => {
      const { invoke } = run(`if (event.crash) { ${code} } return 'fine'`);
      const error = await failure(invoke({ crash: true }));
      expect(error.errorType).toBe(errorType);
      expect(error.errorMessage).toMatch(errorMessage);
      expect(await invoke()).toEqual({ ok: true, payload: 'fine' });
    },
  );

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
