import { getEventListeners } from 'node:events';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Darkroom } from '../../client/src/index.ts';
import { json, stub, testKey, thrownBy } from './stub.ts';

const request = { model: 'sandbox-sketch', prompt: 'a lake' };
const reason = new Error('the caller left');

/** Every call that takes a signal. */
const calls: Readonly<Record<string, (darkroom: Darkroom, signal: AbortSignal) => PromiseLike<unknown>>> = {
  'images.generate': (darkroom, signal) => darkroom.images.generate(request, { signal }),
  'images.generateAndWait': (darkroom, signal) => darkroom.images.generateAndWait(request, { signal }),
  'images.quote': (darkroom, signal) => darkroom.images.quote(request, { signal }),
  'creations.get': (darkroom, signal) => darkroom.creations.get('c1', { signal }),
  'creations.wait': (darkroom, signal) => darkroom.creations.wait('c1', { signal }),
  'creations.cancel': (darkroom, signal) => darkroom.creations.cancel('c1', { signal }),
  'creations.list': (darkroom, signal) => darkroom.creations.list({}, { signal }).page(),
  'uploads.create': (darkroom, signal) =>
    darkroom.uploads.create(new Blob(['x']), { contentType: 'image/png', signal }),
  'results.download': (darkroom, signal) =>
    darkroom.results.download(
      { url: 'https://results.test/1', width: 1, height: 1, content_type: 'image/png', bytes: 1 },
      { signal },
    ),
  'balance.get': (darkroom, signal) => darkroom.balance.get({ signal }),
  'models.list': (darkroom, signal) => darkroom.models.list({ signal }),
  'events.list': (darkroom, signal) => darkroom.events.list({}, { signal }),
  'events.follow': async (darkroom, signal) => darkroom.events.follow({ signal }).next(),
};

describe('signals', () => {
  for (const [name, call] of Object.entries(calls)) {
    it(`${name} ends when its signal is aborted, and throws the reason`, async () => {
      const { darkroom, sent } = stub(() => 'silence');
      const controller = new AbortController();
      const error = thrownBy(call(darkroom, controller.signal));
      await expect.poll(() => sent).toHaveLength(1);
      controller.abort(reason);
      expect(await error).toBe(reason);
      expect(sent).toHaveLength(1);
      expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    });

    it(`${name} sends nothing when its signal was aborted before`, async () => {
      const { darkroom, sent } = stub(() => json({}));
      expect(await thrownBy(call(darkroom, AbortSignal.abort(reason)))).toBe(reason);
      expect(sent).toEqual([]);
    });
  }

  it('A signal ends the wait before a retry, in real time, and leaves no listener', async () => {
    const controller = new AbortController();
    const darkroom = new Darkroom({
      apiKey: testKey,
      baseUrl: 'https://darkroom.test',
      fetch: () => Promise.reject(new TypeError('fetch failed')),
      onRetry: () => setTimeout(() => controller.abort(reason), 5),
    });
    expect(await thrownBy(darkroom.balance.get({ signal: controller.signal }))).toBe(reason);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });

  it('A call that succeeds after a retry leaves neither listener nor timer', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { signal } = new AbortController();
    const answers = [json({}, 503, { 'retry-after': '0' }), json({ available: 1 })];
    const darkroom = new Darkroom({
      apiKey: testKey,
      baseUrl: 'https://darkroom.test',
      fetch: async () => Promise.resolve(answers.shift() ?? json({})),
    });
    const answer = darkroom.balance.get({ signal });
    await vi.advanceTimersByTimeAsync(1);
    expect(await answer).toEqual({ available: 1 });
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('A wait before a retry that is aborted leaves no timer', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const controller = new AbortController();
    const darkroom = new Darkroom({
      apiKey: testKey,
      baseUrl: 'https://darkroom.test',
      fetch: async () => Promise.resolve(json({}, 503, { 'retry-after': '50' })),
      onRetry: () => queueMicrotask(() => controller.abort(reason)),
    });
    expect(await thrownBy(darkroom.balance.get({ signal: controller.signal }))).toBe(reason);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('The time limit of a call is its own', async () => {
    const { darkroom } = stub(() => 'silence', { maxRetries: 0 });
    expect(await thrownBy(darkroom.balance.get({ timeoutMs: 5 }))).toMatchObject({ name: 'TimeoutError' });
  });
});
