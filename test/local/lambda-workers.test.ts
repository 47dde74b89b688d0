/** The workers of a function: which invocations share one, and what a crash ends. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { InvocationResult } from '../../local/lambda/messages.ts';
import { crashes, createRunner, failure, oneWorker } from './lambda-fixture.ts';

const run = createRunner();

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

  it('A worker that has rested takes several invocations of one instant', async () => {
    const { invoke } = run('return globalThis.loaded', {
      top: loads,
      limits: { ...oneWorker, environmentsWhenBusy: 2 },
    });
    const first = await invoke();
    await new Promise((resolve) => {
      setTimeout(resolve, 600);
    });
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
    'An invocation that crashes by %s ends alone, and its worker takes no new invocation',
    async (_how, code, errorType) => {
      const { invoke, clock } = run(
        `if (event.crash) { ${code} }
        while (Date.now() < event.until) await new Promise((resolve) => setTimeout(resolve, 5));
        return globalThis.loaded`,
        { top: loads },
      );
      const start = clock.freeze();
      const first = await invoke({ until: 0 });
      const waiting = [invoke({ until: start + 1 }), invoke({ until: start + 1 })];
      expect((await failure(invoke({ crash: true }))).errorType).toBe(errorType);
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
    await new Promise((resolve) => {
      setTimeout(resolve, 1_000);
    });
    const answeredAt = payloadNumber(await invoke());
    expect(answeredAt).toBeLessThan(payloadNumber(await blocking));
  });

  it('An invocation that blocks its worker beyond its time limit takes the others with it', async () => {
    const { invoke } = run(
      `if (event.ready) return;
      if (event.spin) for (;;);
      await new Promise(() => setInterval(() => 0, 1000))`,
      { timeoutSeconds: 2 },
    );
    // The time limit of an invocation begins when the worker has loaded its bundle.
    await invoke({ ready: true });
    const spinning = invoke({ spin: true });
    await new Promise((resolve) => {
      setTimeout(resolve, 200);
    });
    const errors = await Promise.all([failure(spinning), failure(invoke())]);
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
    await new Promise((resolve) => {
      setTimeout(resolve, 2_000);
    });
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
