import { describe, expect, it } from 'vitest';
import type { StoredImage } from '../../core/creation.ts';
import { failureNames, type FailureName } from '../../core/failure.ts';
import type { RefusalReason } from '../../core/provider.ts';
import { fakeProvider, pngBytes, rejection } from './fakes.ts';
import { begun, bothRoutes, refused, rendered, walk } from './walk-fixture.ts';

describe('the routes of a creation', () => {
  it('end at the first image; the attempt was written before the provider was called', async () => {
    const order: string[] = [];
    const first = fakeProvider('first', () => {
      order.push('called');
      return rendered;
    });
    const { result, saved } = walk(
      {},
      { providers: [first, fakeProvider('second')], onSave: () => order.push('saved') },
    );
    const { image, bytes, attempts } = await result;
    expect(image).toMatchObject({
      width: 64,
      height: 64,
      contentType: 'image/png',
      bytes: pngBytes.byteLength,
    });
    expect(image.key).toMatch(/^results\/[A-Za-z0-9_-]{32}\.png$/);
    expect(bytes).toBe(pngBytes);
    expect(order).toEqual(['saved', 'called']);
    expect(saved[0]).toEqual([
      { provider: 'first', providerModel: 'a', startedAt: '2026-11-21T12:00:30.000Z', resultKey: image.key },
    ]);
    expect(attempts.map(({ outcome }) => outcome)).toEqual(['rendered']);
  });

  it.each<RefusalReason>(['unavailable', 'credentials', 'unknown_outcome'])(
    'go on to the second when the first is %s',
    async (reason) => {
      const first = fakeProvider('first', { kind: 'refused', reason, detail: 'HTTP 418' });
      const { result, log } = walk({}, { providers: [first, fakeProvider('second', rendered)] });
      const { attempts } = await result;
      expect(attempts.map(({ provider, outcome, detail }) => [provider, outcome, detail])).toEqual([
        ['first', reason, 'HTTP 418'],
        ['second', 'rendered', undefined],
      ]);
      for (const { endedAt } of attempts) expect(endedAt).toBe('2026-11-21T12:00:30.000Z');
      const answered = 'info provider_answered';
      expect(log.lines).toEqual(
        reason === 'credentials'
          ? [answered, 'alarm provider_refused_credentials', answered]
          : [answered, answered],
      );
    },
  );

  it('go on to the second when the first is not there at all', async () => {
    const { result } = walk({}, { providers: [fakeProvider('second', rendered)] });
    expect((await result).attempts.map(({ outcome }) => outcome)).toEqual(['unavailable', 'rendered']);
  });

  it.each<[RefusalReason, FailureName]>([
    ['prompt', 'PromptRejected'],
    ['source_image', 'SourceImageRejected'],
    ['failed', 'GenerationFailed'],
    ['nothing_rendered', 'NothingRendered'],
    ['timed_out', 'GenerationTimedOut'],
    ['unknown_answer', 'InternalFailure'],
  ])('end with the first that says %s: %s', async (reason, failure) => {
    const second = fakeProvider('second');
    const { result, saved } = walk({}, { providers: [fakeProvider('first', refused(reason)), second] });
    expect(await rejection(result)).toMatchObject({ name: failure });
    expect(second.calls).toEqual([]);
    expect(saved.at(-1)?.map(({ outcome }) => outcome)).toEqual([failure]);
  });

  it('tell the operator of an answer that no adapter knows', async () => {
    const { result, log } = walk(
      {},
      {
        providers: [fakeProvider('first', { kind: 'refused', reason: 'unknown_answer', detail: 'HTTP 299' })],
      },
    );
    expect(await rejection(result)).toMatchObject({ name: 'InternalFailure' });
    expect(log.lines).toContain('alarm provider_answer_unknown');
    expect(log.text()).toContain('HTTP 299');
  });

  it('whose last word is unknown end as ours, not as an outage', async () => {
    const { result } = walk(
      {},
      {
        providers: [
          fakeProvider('first', refused('unknown_outcome')),
          fakeProvider('second', refused('unavailable')),
        ],
      },
    );
    expect(await rejection(result)).toMatchObject({ name: 'InternalFailure' });
  });

  it('that are all down are "temporarily unavailable"', async () => {
    const down = refused('unavailable');
    const { result, saved } = walk(
      {},
      { providers: [fakeProvider('first', down), fakeProvider('second', down)] },
    );
    expect(await rejection(result)).toMatchObject({ name: 'ServiceUnavailable' });
    expect(saved.at(-1)?.map(({ outcome }) => outcome)).toEqual(['unavailable', 'unavailable']);
  });

  it('end as ours when a provider breaks, or sends what is no image', async () => {
    const breaks = (): never => {
      throw new Error('secret of the vendor');
    };
    const broken = walk({}, { providers: [fakeProvider('first', breaks)] });
    expect(await rejection(broken.result)).toEqual({
      name: 'InternalFailure',
      message: 'Generation failed.',
    });
    expect(broken.log.text()).not.toContain('secret of the vendor');
    const text = walk(
      {},
      { providers: [fakeProvider('first', { kind: 'rendered', bytes: Buffer.from('<html>') })] },
    );
    expect(await rejection(text.result)).toMatchObject({ name: 'InternalFailure' });
  });

  it('end as ours when the image is of another type than was asked for', async () => {
    const { result, saved, log } = walk(
      { outputFormat: 'jpeg' },
      { providers: [fakeProvider('first', rendered)] },
    );
    expect(await rejection(result)).toMatchObject({ name: 'InternalFailure' });
    expect(saved.at(-1)?.[0]?.detail).toBe('image/png instead of jpeg');
    expect(log.lines).toContain('alarm provider_answer_unknown');
  });

  it('give a picture of another ratio than was asked for as it is, and tell the operator', async () => {
    const { result } = walk({ aspectRatio: '9:16' }, { providers: [fakeProvider('first', rendered)] });
    const { image, attempts } = await result;
    expect(image).toMatchObject({ width: 64, height: 64 });
    expect(attempts[0]?.detail).toBe('64 x 64 for 9:16');
  });
});

describe('an attempt whose end nobody saw', () => {
  it('is not repeated at the same vendor: the next route renders', async () => {
    const first = fakeProvider('first');
    const { result } = walk({ attempts: [begun] }, { providers: [first, fakeProvider('second', rendered)] });
    expect((await result).attempts.map(({ provider, outcome }) => [provider, outcome])).toEqual([
      ['first', 'unknown_outcome'],
      ['second', 'rendered'],
    ]);
    expect(first.calls).toEqual([]);
  });

  it('and no other route ends as ours, not as an outage', async () => {
    const only = walk(
      { attempts: [begun], routes: bothRoutes.routes.slice(0, 1) },
      { providers: [fakeProvider('first')] },
    );
    expect(await rejection(only.result)).toMatchObject({ name: 'InternalFailure' });
    const down = walk(
      { attempts: [begun] },
      { providers: [fakeProvider('first'), fakeProvider('second', refused('unavailable'))] },
    );
    expect(await rejection(down.result)).toMatchObject({ name: 'InternalFailure' });
  });

  it('is found when its image was stored, and committed without rendering again', async () => {
    const image: StoredImage = {
      key: 'results/begun.png',
      width: 9,
      height: 9,
      contentType: 'image/png',
      bytes: 99,
    };
    const first = fakeProvider('first');
    const { result } = walk({ attempts: [begun] }, { providers: [first], stored: [image] });
    expect(await result).toEqual({ image, attempts: [{ ...begun, outcome: 'rendered' }] });
    expect(first.calls).toEqual([]);
  });
});

describe('a walk that ended before', () => {
  it.each(failureNames)('by %s ends the same again, without a call', async (failure) => {
    const { result } = walk(
      { attempts: [{ ...begun, outcome: failure }] },
      { providers: [fakeProvider('first'), fakeProvider('second')] },
    );
    expect(await rejection(result)).toMatchObject({ name: failure });
  });

  it('at a provider that was down goes on with the next', async () => {
    const first = fakeProvider('first');
    const { result } = walk(
      { attempts: [{ ...begun, outcome: 'unavailable' }] },
      { providers: [first, fakeProvider('second', rendered)] },
    );
    expect((await result).attempts.at(-1)).toMatchObject({ provider: 'second', outcome: 'rendered' });
    expect(first.calls).toEqual([]);
  });
});
