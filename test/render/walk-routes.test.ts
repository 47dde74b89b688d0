import { describe, expect, it, vi } from 'vitest';
import { type FailureName, failureNames, type RefusalReason } from '../../service/contract/failures.ts';
import type { RouteAttempt, StoredImage } from '../../service/creations/creation.ts';
import type { Measures } from '../../service/creations/measures.ts';
import { type ImageProvider, renderedAs } from '../../service/vendors/provider.ts';
import { asMicros } from '../../service/values/money.ts';
import { fakeProvider, pngBytes, rejection, failureOf } from '../api/fakes.ts';
import { now, storedImage } from '../fixtures/records.ts';
import {
  begun,
  bothRoutes,
  down,
  first,
  healthOf,
  refused,
  rendered,
  resting,
  type Surroundings,
  throttled,
  walk,
  walkBy,
  walkOver,
} from './walk-fixture.ts';

describe('the walk over the routes of a creation', () => {
  it('The walk ends at the first image, and each attempt is saved before its provider is called', async () => {
    const order: string[] = [];
    const first = fakeProvider('first', () => {
      order.push('called');
      return rendered;
    });
    const { result, saved } = walkOver([first, fakeProvider('second')], {
      onSave: () => order.push('saved'),
    });
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
    'The walk goes on to the second route when the first provider answers %s',
    async (reason) => {
      const first = fakeProvider('first', { kind: 'refused', reason, detail: 'HTTP 418' });
      const { result, log } = walkOver([first, fakeProvider('second', rendered)]);
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

  describe('for a background', () => {
    const both = () =>
      [fakeProvider('first', renderedAs(pngBytes, asMicros(7))), fakeProvider('second', rendered)].map(
        (provider) => ({ ...provider, sends: ['background'] as const }),
      );
    const seen = (found: readonly (boolean | Error)[]) => {
      const left = [...found];
      return async () => {
        const next = left.shift() ?? false;
        return next instanceof Error ? Promise.reject(next) : Promise.resolve(next);
      };
    };

    it.each(['transparent', 'opaque'] as const)(
      'The walk goes on after a picture without a background that is %s, and notes its bill',
      async (background) => {
        const isTransparent = seen([background !== 'transparent', background === 'transparent']);
        const { result, log } = walk({ background }, { providers: both(), isTransparent });
        const other = background === 'opaque' ? 'transparent' : 'opaque';
        expect((await result).attempts).toMatchObject([
          {
            outcome: 'not_honoured',
            detail: `background ${other} instead of ${background}`,
            billedMicros: 7,
          },
          { provider: 'second', outcome: 'rendered' },
        ]);
        expect(log.lines).toContain('alarm provider_answer_unknown');
      },
    );

    it('When no route is left, nothing was rendered', async () => {
      const { result } = walk(
        { background: 'transparent' },
        { providers: both(), isTransparent: seen([false, false]) },
      );
      expect(await failureOf(result)).toBe('NothingRendered');
    });

    it('A picture that cannot be read is not delivered', async () => {
      const isTransparent = seen([new TypeError('broken'), true]);
      const { result, log } = walk({ background: 'transparent' }, { providers: both(), isTransparent });
      expect((await result).attempts).toMatchObject([
        { outcome: 'not_honoured', detail: 'background unreadable instead of transparent' },
        { outcome: 'rendered' },
      ]);
      expect(log.entries).toContainEqual(['info pixels_not_read', { error: 'TypeError' }]);
    });

    it.each(['auto', undefined, null] as const)('No pixel is checked for %s', async (background) => {
      const isTransparent = vi.fn(async () => Promise.resolve(true));
      const { result } = walk({ background } as object, { providers: both(), isTransparent });
      expect((await result).attempts).toMatchObject([{ outcome: 'rendered' }]);
      expect(isTransparent).not.toHaveBeenCalled();
    });

    it('No vendor is asked for a transparent one that is not sent it', async () => {
      const { result } = walk(
        { background: 'transparent' },
        { providers: [fakeProvider('first', rendered), fakeProvider('second', rendered)] },
      );
      expect(await failureOf(result)).toBe('InternalFailure');
    });
  });

  describe('for a mask', () => {
    const masked = {
      sources: [{ ...storedImage, key: 'sources/a.png' }],
      mask: { ...storedImage, key: 'sources/mask.png' },
    };
    const both = (sends: NonNullable<ImageProvider['sends']> = ['mask']) =>
      [fakeProvider('first', renderedAs(pngBytes, asMicros(7))), fakeProvider('second', rendered)].map(
        (provider) => ({ ...provider, sends }),
      );
    const get = async (key: string) => Promise.resolve(Buffer.from(key));

    it('The walk goes on after a picture that changed more than 2 of 255, and notes its bill', async () => {
      const changes = [2.001, 2];
      const looks: unknown[] = [];
      const changeWhereProtected: Measures['changeWhereProtected'] = async ({ picture, ...images }) => {
        looks.push([picture === pngBytes, ...Object.values(images).map(String)]);
        return Promise.resolve(changes.shift() ?? 0);
      };
      const { result, log } = walk(masked, { providers: both(), get, changeWhereProtected });
      expect((await result).attempts).toMatchObject([
        {
          outcome: 'not_honoured',
          detail: '2.0 of 255 changed where the mask protects',
          billedMicros: 7,
        },
        { provider: 'second', outcome: 'rendered' },
      ]);
      expect(looks).toEqual(Array.from({ length: 2 }, () => [true, 'sources/a.png', 'sources/mask.png']));
      expect(log.lines).toContain('alarm provider_answer_unknown');
    });

    it('A picture that cannot be measured is not delivered, nor one whose source is gone', async () => {
      const failing: [Surroundings['get'], Measures['changeWhereProtected']][] = [
        [get, async () => Promise.reject(new TypeError('broken'))],
        [async () => Promise.reject(new TypeError('gone')), async () => Promise.resolve(0)],
      ];
      for (const [reads, changeWhereProtected] of failing) {
        const around = { providers: both(), ...(reads && { get: reads }), changeWhereProtected };
        const { result, log } = walk(masked, around);
        expect(await failureOf(result)).toBe('NothingRendered');
        expect(log.entries).toContainEqual(['info pixels_not_read', { error: 'TypeError' }]);
      }
    });

    it.each<[string, Measures['seeThroughMask'], string]>([
      [
        'as vendors read it',
        async (mask) => Promise.resolve(Buffer.from(`open ${String(mask)}`)),
        'open sources/mask.png',
      ],
      [
        'as it came, when its pixels cannot be read',
        async () => Promise.reject(new TypeError('broken')),
        'sources/mask.png',
      ],
    ])('The mask is sent %s', async (_how, seeThroughMask, sent) => {
      const read: string[] = [];
      const first: ImageProvider = {
        name: 'first',
        sends: ['mask'],
        submit: async (job) => {
          read.push(String((await job.readMask?.())?.bytes));
          return rendered;
        },
      };
      const { result } = walk(masked, { providers: [first], get, seeThroughMask });
      expect((await result).attempts).toMatchObject([{ outcome: 'rendered' }]);
      expect(read).toEqual([sent]);
    });

    it('Without a mask nothing is read or measured', async () => {
      const reads = vi.fn(get);
      const changeWhereProtected = vi.fn(async () => Promise.resolve(0));
      const { result } = walk(
        { sources: masked.sources },
        { providers: both(), get: reads, changeWhereProtected },
      );
      expect((await result).attempts).toMatchObject([{ outcome: 'rendered' }]);
      expect([reads.mock.calls, changeWhereProtected.mock.calls]).toEqual([[], []]);
    });

    it('No vendor is asked that is not sent the mask', async () => {
      const { result } = walk(masked, { providers: both(['background']), get });
      expect(await failureOf(result)).toBe('InternalFailure');
    });
  });

  const twoModels = [
    { provider: 'first', providerModel: 'a' },
    { provider: 'first', providerModel: 'b' },
    { provider: 'second', providerModel: 'c' },
  ];

  it('The walk asks a provider for its second model when the provider does not have the first', async () => {
    const first = fakeProvider('first', refused('credentials'), rendered);
    const { result } = walk({ routes: twoModels }, { providers: [first, fakeProvider('second')] });
    expect((await result).attempts).toMatchObject([
      { providerModel: 'a', outcome: 'credentials' },
      { providerModel: 'b', outcome: 'rendered' },
    ]);
  });

  it('The walk asks a provider for no other model when the outcome of the first is unknown', async () => {
    const first = fakeProvider('first', refused('unknown_outcome'));
    const { result } = walk({ routes: twoModels }, { providers: [first, fakeProvider('second', rendered)] });
    expect((await result).attempts).toMatchObject([
      { providerModel: 'a', outcome: 'unknown_outcome' },
      { providerModel: 'c', outcome: 'rendered' },
    ]);
    expect(first.calls).toHaveLength(1);
  });

  it.each<[RefusalReason, FailureName]>([
    ['prompt', 'PromptRejected'],
    ['source_image', 'SourceImageRejected'],
    ['failed', 'GenerationFailed'],
    ['nothing_rendered', 'NothingRendered'],
    ['timed_out', 'GenerationTimedOut'],
    ['unknown_answer', 'InternalFailure'],
  ])('The answer %s ends the walk as %s', async (reason, failure) => {
    const second = fakeProvider('second');
    const { result, saved } = walkOver([fakeProvider('first', refused(reason)), second]);
    expect(await failureOf(result)).toBe(failure);
    expect(second.calls).toEqual([]);
    expect(saved.at(-1)?.map(({ outcome }) => outcome)).toEqual([failure]);
  });

  it('An answer that no adapter knows is reported to the operator', async () => {
    const { result, log } = walkOver([
      fakeProvider('first', { kind: 'refused', reason: 'unknown_answer', detail: 'HTTP 299' }),
    ]);
    expect(await failureOf(result)).toBe('InternalFailure');
    expect(log.lines).toContain('alarm provider_answer_unknown');
    expect(log.text()).toContain('HTTP 299');
  });

  it('A field that the adapter cannot send is never ignored: the vendor is not called, and an alarm names it', async () => {
    const first = fakeProvider('first', rendered);
    const routes = [{ provider: 'first', providerModel: 'a' }];
    const asked = { routes, negativePrompt: 'boats' };
    const { result, log } = walk(asked, { providers: [first] });
    expect(await failureOf(result)).toBe('InternalFailure');
    expect(first.calls).toEqual([]);
    expect(JSON.stringify(log.entries)).toContain('negativePrompt is not sent');
    const able = { ...fakeProvider('first', rendered), sends: ['negativePrompt'] } as const;
    expect((await walk(asked, { providers: [able] }).result).attempts).toMatchObject([
      { outcome: 'rendered' },
    ]);
  });

  it('An unknown outcome ends the walk as InternalFailure, not as an outage', async () => {
    const { result } = walkOver([
      fakeProvider('first', refused('unknown_outcome')),
      fakeProvider('second', refused('unavailable')),
    ]);
    expect(await failureOf(result)).toBe('InternalFailure');
  });

  it('The walk ends as ServiceUnavailable when every provider is unavailable', async () => {
    const down = refused('unavailable');
    const { result, saved } = walkOver([fakeProvider('first', down), fakeProvider('second', down)]);
    expect(await failureOf(result)).toBe('ServiceUnavailable');
    expect(saved.at(-1)?.map(({ outcome }) => outcome)).toEqual(['unavailable', 'unavailable']);
  });

  it('The walk ends as InternalFailure when a provider throws', async () => {
    const breaks = (): never => {
      throw new Error('secret of the vendor');
    };
    const broken = walkOver([fakeProvider('first', breaks)]);
    expect(await rejection(broken.result)).toEqual({
      name: 'InternalFailure',
      message: 'Generation failed.',
    });
    expect(broken.log.text()).not.toContain('secret of the vendor');
  });

  it('The walk ends as InternalFailure when the image has another type than the request', async () => {
    const { result, saved, log } = walk(
      { outputFormat: 'jpeg' },
      { providers: [fakeProvider('first', rendered)] },
    );
    expect(await failureOf(result)).toBe('InternalFailure');
    expect(saved.at(-1)?.[0]?.detail).toBe('image/png instead of jpeg');
    expect(log.lines).toContain('alarm provider_answer_unknown');
  });

  it('A picture of another ratio than the request is used as it is, and the attempt says so', async () => {
    const { result } = walk({ aspectRatio: '9:16' }, { providers: [fakeProvider('first', rendered)] });
    const { image, attempts } = await result;
    expect(image).toMatchObject({ width: 64, height: 64 });
    expect(attempts[0]?.detail).toBe('64 x 64 for 9:16');
  });
});

describe('an attempt whose outcome is unknown', () => {
  it('The attempt is not repeated at the same vendor, and the next route renders', async () => {
    const first = fakeProvider('first');
    const { result } = walk({ attempts: [begun] }, { providers: [first, fakeProvider('second', rendered)] });
    expect((await result).attempts.map(({ provider, outcome }) => [provider, outcome])).toEqual([
      ['first', 'unknown_outcome'],
      ['second', 'rendered'],
    ]);
    expect(first.calls).toEqual([]);
  });

  it('The attempt is repeated at a provider whose pictures cost nothing, and stays one attempt', async () => {
    const first = { ...fakeProvider('first', rendered), mayRepeat: () => true };
    const { result } = walk({ attempts: [begun] }, { providers: [first, fakeProvider('second')] });
    const { image, attempts } = await result;
    expect(attempts).toMatchObject([{ ...begun, outcome: 'rendered' }]);
    expect(image.key).toBe(begun.resultKey);
    expect(first.calls).toHaveLength(1);
  });

  it('The creation fails as InternalFailure when no other route renders, not as an outage', async () => {
    const only = walk(
      { attempts: [begun], routes: bothRoutes.routes.slice(0, 1) },
      { providers: [fakeProvider('first')] },
    );
    expect(await failureOf(only.result)).toBe('InternalFailure');
    const down = walk(
      { attempts: [begun] },
      { providers: [fakeProvider('first'), fakeProvider('second', refused('unavailable'))] },
    );
    expect(await failureOf(down.result)).toBe('InternalFailure');
  });

  it('A stored image of the attempt is found and used without rendering again', async () => {
    const image: StoredImage = {
      key: 'results/begun.png',
      width: 9,
      height: 9,
      contentType: 'image/png',
      bytes: 99,
    };
    const first = fakeProvider('first');
    const { result } = walk({ attempts: [begun] }, { providers: [first], stored: [image] });
    expect(await result).toEqual({ kind: 'rendered', image, attempts: [{ ...begun, outcome: 'rendered' }] });
    expect(first.calls).toEqual([]);
  });
});

describe('a walk that ended before', () => {
  it.each(failureNames)('A walk that ended by %s ends so again, without a call', async (failure) => {
    const { result } = walk(
      { attempts: [{ ...begun, outcome: failure }] },
      { providers: [fakeProvider('first'), fakeProvider('second')] },
    );
    expect(await failureOf(result)).toBe(failure);
  });

  it('A walk whose provider was unavailable goes on with the next route', async () => {
    const first = fakeProvider('first');
    const { result } = walk(
      { attempts: [{ ...begun, outcome: 'unavailable' }] },
      { providers: [first, fakeProvider('second', rendered)] },
    );
    expect((await result).attempts.at(-1)).toMatchObject({ provider: 'second', outcome: 'rendered' });
    expect(first.calls).toEqual([]);
  });
});

describe('a vendor that wants to be left alone', () => {
  it('A route that rests comes behind the others', async () => {
    const walked = walkBy(healthOf({ [first]: resting(20_000) }), [[], [rendered]]);
    expect((await walked.result).attempts).toMatchObject([{ provider: 'second' }]);
    expect(walked.clock.sleeps).toEqual([]);
  });

  it('The walk waits for a route that rests when no other is left', async () => {
    const walked = walkBy(healthOf({ [first]: resting(20_000) }), [[rendered], [down]]);
    expect((await walked.result).attempts).toMatchObject([{ outcome: 'unavailable' }, { provider: 'first' }]);
    expect(walked.clock.sleeps).toEqual([20_000]);
  });

  it('A route that rests for too long is asked all the same before the creation fails', async () => {
    const walked = walkBy(healthOf({ [first]: resting(58_000) }), [[down], [down]], {
      deadlineAt: now + 60_000,
    });
    expect(await failureOf(walked.result)).toBe('ServiceUnavailable');
    expect(walked.asked).toEqual(['second', 'first']);
    expect(walked.clock.sleeps).toEqual([]);
  });

  it('The vendor is asked again at its time, and the refusal is saved before the wait', async () => {
    const health = healthOf({});
    const walked = walkBy(health, [[throttled(7_000), rendered], [down]]);
    expect((await walked.result).attempts).toMatchObject([
      { provider: 'first', outcome: 'unavailable', againAt: now + 7_000 },
      { provider: 'second', outcome: 'unavailable' },
      { provider: 'first', outcome: 'rendered' },
    ]);
    expect(walked.asked).toEqual(['first', 'second', 'first']);
    expect(walked.clock.sleeps).toEqual([7_000]);
    // The second save is the begin of the second route, the third comes before the wait.
    expect(walked.saved[2]).toMatchObject([{ outcome: 'unavailable' }, { outcome: 'unavailable' }]);
    expect(walked.saved[3]).toHaveLength(3);
    expect(walked.saved[3]?.[2]).not.toHaveProperty('outcome');
    expect(health.notes[0]).toEqual([first, { sign: 'failure', weight: 1, restUntil: now + 7_000 }]);
  });

  it('No attempt is saved once more when nobody waits', async () => {
    const walked = walkBy(healthOf({}), [[throttled(7_000)], [rendered]]);
    await walked.result;
    expect(walked.saved).toHaveLength(2);
  });

  it('After a crash during the wait, the walk waits for the rest of the time and asks again', async () => {
    const before: RouteAttempt = { ...begun, outcome: 'unavailable', againAt: now + 3_000 };
    const other: RouteAttempt = { ...begun, provider: 'second', providerModel: 'b', outcome: 'unavailable' };
    const walked = walkBy(healthOf({}), [[rendered], []], { attempts: [before, other] });
    expect((await walked.result).attempts.map(({ outcome }) => outcome)).toEqual([
      'unavailable',
      'unavailable',
      'rendered',
    ]);
    expect(walked.clock.sleeps).toEqual([3_000]);
  });

  it('After a crash during the second call, the vendor is not asked a third time', async () => {
    const before: RouteAttempt = { ...begun, outcome: 'unavailable', againAt: now - 3_000 };
    const other: RouteAttempt = { ...begun, provider: 'second', providerModel: 'b', outcome: 'unavailable' };
    const walked = walkBy(healthOf({}), [[], []], { attempts: [before, other, begun] });
    expect(await failureOf(walked.result)).toBe('InternalFailure');
    expect(walked.asked).toEqual([]);
  });

  it('A vendor that is paused during the wait is not asked again', async () => {
    const health = healthOf({});
    const paused: string[] = [];
    const pausing = { ...health, paused: async () => Promise.resolve(paused) };
    const pauses = (): typeof down => {
      paused.push('first');
      return down;
    };
    const walked = walkOver([fakeProvider('first', () => throttled(7_000)), fakeProvider('second', pauses)], {
      health: pausing,
    });
    expect(await failureOf(walked.result)).toBe('ServiceUnavailable');
  });

  it('A vendor is asked five times at most', async () => {
    const always = Array.from({ length: 5 }, () => throttled(10_000));
    const walked = walkBy(healthOf({}), [always, [down]]);
    expect(await failureOf(walked.result)).toBe('ServiceUnavailable');
    expect(walked.asked.filter((name) => name === 'first')).toHaveLength(5);
  });

  it('A wait is at least a second and at most two minutes', async () => {
    const walked = walkBy(healthOf({}), [[throttled(0), throttled(9_000_000), rendered], [down]]);
    await walked.result;
    expect(walked.clock.sleeps).toEqual([1_000, 120_000]);
  });

  it('The walk does not wait beyond the deadline', async () => {
    const walked = walkBy(healthOf({}), [[throttled(56_000)], [down]], { deadlineAt: now + 60_000 });
    expect(await failureOf(walked.result)).toBe('ServiceUnavailable');
    expect(walked.clock.sleeps).toEqual([]);
  });

  it('Of two vendors that throttle, the one whose time comes first is asked first', async () => {
    const walked = walkBy(healthOf({}), [[throttled(30_000)], [throttled(4_000), rendered]]);
    await walked.result;
    expect(walked.asked).toEqual(['first', 'second', 'second']);
    expect(walked.clock.sleeps).toEqual([4_000]);
  });

  it('A vendor whose other call has an unknown outcome is not asked again', async () => {
    const routes = [
      { provider: 'first', providerModel: 'a' },
      { provider: 'first', providerModel: 'b' },
    ];
    const provider = fakeProvider('first', throttled(5_000), refused('unknown_outcome'));
    const { result } = walk({ routes }, { providers: [provider], health: healthOf({}) });
    expect(await failureOf(result)).toBe('InternalFailure');
    expect(provider.calls).toHaveLength(2);
  });
});
