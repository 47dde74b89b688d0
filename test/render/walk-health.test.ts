/** The walk over the routes of a creation, by what is known of their health. */
import { describe, expect, it } from 'vitest';
import type { ProviderCosts } from '../../service/catalog/catalog-schema.ts';
import type { RouteAttempt } from '../../service/creations/creation.ts';
import { noHealth } from '../../service/render/route-health.ts';
import type { ImageProvider } from '../../service/vendors/provider.ts';
import { fakeProvider, rejection, failureOf } from '../api/fakes.ts';
import { now } from '../fixtures/records.ts';
import {
  begun,
  down,
  due,
  first,
  healthOf,
  type Noted,
  open,
  passing,
  pending,
  refused,
  rendered,
  second,
  taking,
  walk,
  walkBy,
  walkOver,
} from './walk-fixture.ts';

describe('the order in which a creation asks its routes', () => {
  it('A creation asks a route whose circuit is open after the others', async () => {
    const walked = walkBy(healthOf({ [first]: open }), [[], [rendered]]);
    expect((await walked.result).attempts).toMatchObject([{ provider: 'second', outcome: 'rendered' }]);
  });

  it('A creation fails only after it has asked the route whose circuit is open, too', async () => {
    const saved = walkBy(healthOf({ [first]: open }), [[rendered], [down]]);
    expect((await saved.result).attempts).toMatchObject([{ outcome: 'unavailable' }, { provider: 'first' }]);
    const failed = walkBy(healthOf({ [first]: open, [second]: open }), [[down], [down]]);
    expect(await failureOf(failed.result)).toBe('ServiceUnavailable');
    expect(failed.asked).toEqual(['first', 'second']);
  });

  it('The creation that claims the probe asks the open route first, and the others do not', async () => {
    const claimed = healthOf({ [first]: due });
    expect((await walkBy(claimed, [[rendered], []]).result).attempts).toHaveLength(1);
    expect(claimed.calls).toEqual(['read', `claim ${first}`, `close ${first}`]);
    const late = walkBy(healthOf({ [first]: due }, { claims: false }), [[], [rendered]]);
    expect((await late.result).attempts).toMatchObject([{ provider: 'second' }]);
  });

  it('The fastest route is asked first when an operator has said so', async () => {
    const health = healthOf({ [first]: taking(9_000), [second]: taking(2_000) }, { order: 'fastest' });
    expect((await walkBy(health, [[], [rendered]]).result).attempts).toMatchObject([{ provider: 'second' }]);
  });

  it('The cheapest route is asked first when an operator has said so', async () => {
    const cost = (provider: string, provider_model: string, usd: number) => ({
      provider,
      provider_model,
      quality: null,
      images: [{ resolution: '1K' as const, usd, usd_per_input_image: 0 }],
      source: null,
      checked_at: '2026-11-21',
    });
    const costs: unknown = [cost('first', 'a', 0.04), cost('second', 'b', 0.03)];
    const providerCosts = { costs } as ProviderCosts;
    const cheapest = walkBy(healthOf({}, { order: 'cheapest' }), [[], [rendered]], { providerCosts });
    expect((await cheapest.result).attempts).toMatchObject([{ provider: 'second' }]);
    const given = walkBy(healthOf({}), [[rendered], []], { providerCosts });
    expect((await given.result).attempts).toMatchObject([{ provider: 'first' }]);
  });

  it('A creation does not ask a paused provider, and fails when no other route is left', async () => {
    const health = healthOf({}, { paused: ['first'] });
    const walked = walkBy(health, [[], [rendered]]);
    expect((await walked.result).attempts).toMatchObject([{ provider: 'second' }]);
    const failed = walkBy(health, [[], [down]]);
    expect(await failureOf(failed.result)).toBe('ServiceUnavailable');
    expect(failed.asked).toEqual(['second']);
    const route = healthOf({}, { paused: [first] });
    expect((await walkBy(route, [[], [rendered]]).result).attempts).toMatchObject([{ provider: 'second' }]);
  });

  it('A job that a provider accepted before its pause is asked about', async () => {
    const health = healthOf({}, { paused: ['first'] });
    const polled = { ...fakeProvider('first'), poll: async () => Promise.resolve(rendered) };
    const attempts = [{ ...begun, jobId: 'job' }];
    const walked = walk({ attempts }, { providers: [polled, fakeProvider('second')], health });
    expect((await walked.result).attempts).toMatchObject([{ provider: 'first', outcome: 'rendered' }]);
  });

  it('A creation asks its routes when the pauses cannot be read', async () => {
    const health = { ...healthOf({}), paused: () => Promise.reject(new Error('down')) };
    expect((await walkBy(health, [[rendered], []]).result).attempts).toMatchObject([{ provider: 'first' }]);
  });

  it('A creation asks its routes in the given order when nothing can be read', async () => {
    const health = { ...healthOf({ [first]: open }), read: () => Promise.reject(new Error('down')) };
    const walked = walkBy(health, [[rendered], []]);
    expect((await walked.result).attempts).toMatchObject([{ provider: 'first' }]);
    expect(walked.log.lines).toContain('info health_not_read');
  });

  it('A read that hangs ends after a second', async () => {
    const health: Noted = {
      ...healthOf({}),
      read: async (_routes, _nowMillis, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(new Error('aborted')));
        }),
    };
    const walked = walkBy(health, [[rendered], []]);
    await passing();
    walked.clock.set(now + 999);
    await passing();
    expect(walked.asked).toEqual([]);
    walked.clock.set(now + 1_000);
    expect((await walked.result).attempts).toHaveLength(1);
  });

  it.each([
    ['whose usual time is known is not read', taking(4_000), undefined, []],
    ['that was read 59 s ago is not read', noHealth, now - 59_000, []],
    ['that was never read is read', noHealth, undefined, ['read']],
    ['whose usual time is unknown is read again after a minute', noHealth, now - 60_000, ['read']],
  ])('The only route of a creation %s', async (_why, known, readAt, calls) => {
    const health = healthOf({ [first]: known }, readAt === undefined ? {} : { readAt });
    const routes = [{ provider: 'first', providerModel: 'a' }];
    await walk({ routes }, { providers: [fakeProvider('first', rendered)], health }).result;
    expect(health.calls).toEqual(calls);
  });

  it('An attempt keeps the usual time of its route, from before the call on', async () => {
    const walked = walkBy(healthOf({ [second]: taking(4_000.4) }), [[down], [rendered]]);
    const usual = (await walked.result).attempts.map(({ usualMillis }) => usualMillis);
    expect(usual).toEqual([undefined, 4_000]);
    expect(walked.saved.at(-1)).toMatchObject([{}, { usualMillis: 4_000 }]);
  });

  it('A job that was begun is polled first, whatever is known of its route', async () => {
    const health = healthOf({ [first]: open });
    const walked = walkBy(health, [[rendered], []], { attempts: [{ ...begun, jobId: 'job-1' }] });
    expect((await walked.result).attempts).toMatchObject([{ jobId: 'job-1', outcome: 'rendered' }]);
    expect(health.calls).not.toContain('read');
  });

  it('A call that was begun is never repeated, even when its route is the best one', async () => {
    const health = healthOf({ [second]: open });
    const walked = walkBy(health, [[], [rendered]], { attempts: [begun] });
    expect((await walked.result).attempts).toMatchObject([
      { provider: 'first', outcome: 'unknown_outcome' },
      { provider: 'second', outcome: 'rendered' },
    ]);
    // We died, and the vendor did not fail.
    expect(health.notes).toMatchObject([[second, { sign: 'rendered' }]]);
  });

  it('After a crash, attempts in another order than the catalog keep their order', async () => {
    const before: RouteAttempt = { ...begun, provider: 'second', providerModel: 'b', outcome: 'unavailable' };
    const walked = walkBy(healthOf({ [first]: open }), [[rendered], []], { attempts: [before] });
    expect((await walked.result).attempts.map(({ provider }) => provider)).toEqual(['second', 'first']);
  });

  it('The routes that are left share the time, in whatever order they are asked', async () => {
    const hanging: ImageProvider = {
      name: 'second',
      submit: async (_job, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(new Error('aborted')));
        }),
    };
    const walked = walkOver([fakeProvider('first', rendered), hanging], {
      health: healthOf({ [first]: open }),
    });
    await passing();
    walked.clock.set(now + 149_999);
    await passing();
    expect(walked.saved).toMatchObject([[{ provider: 'second' }]]);
    walked.clock.set(now + 150_000);
    expect((await walked.result).attempts).toMatchObject([{ outcome: 'no_answer' }, { provider: 'first' }]);
  });
});

describe('what a creation notes of its routes', () => {
  it('A creation notes each end that says something about the route', async () => {
    const health = healthOf({});
    await walkBy(health, [[down], [rendered]]).result;
    expect(health.notes).toEqual([
      [first, { sign: 'failure', weight: 1 }],
      [second, { sign: 'rendered', weight: 1, millis: 0 }],
    ]);
    const judged = healthOf({});
    await rejection(walkBy(judged, [[refused('prompt')], []]).result);
    expect(judged.notes).toEqual([]);
  });

  it('The failure that opens the circuit raises an alarm', async () => {
    const bad = { ...noHealth, windows: [{ startMillis: now, rendered: 1, failed: 5, keyRefused: 0 }] };
    const health = healthOf({ [first]: bad });
    const walked = walkBy(health, [[down], [rendered]]);
    await walked.result;
    expect(health.calls).toEqual(['read', `open ${first}`]);
    expect(walked.log.entries).toContainEqual([
      'alarm provider_circuit_opened',
      { provider: 'first', providerModel: 'a', quality: undefined, rendered: 1, failed: 5 },
    ]);
  });

  it('The alarm is raised although the answer to the opening is lost', async () => {
    const bad = { ...noHealth, windows: [{ startMillis: now, rendered: 1, failed: 5, keyRefused: 0 }] };
    const lost: Noted = {
      ...healthOf({ [first]: bad }),
      open: async () => Promise.reject(new Error('no answer')),
    };
    const walked = walkBy(lost, [[down], [rendered]]);
    await walked.result;
    expect(walked.log.lines).toContain('alarm provider_circuit_opened');
    expect(walked.log.lines).toContain('info health_not_noted');
  });

  it('An image of a creation that began before the circuit opened does not close it', async () => {
    const health = healthOf({ [first]: { ...due, openedAt: now + 1 } });
    await walkBy(health, [[rendered], []]).result;
    expect(health.calls).toEqual(['read', `claim ${first}`]);
  });

  it('A job that takes twice as long as usual is noted while it still runs, and only once', async () => {
    const polls = [
      pending('job-1', 3_000),
      pending('job-1', 3_000),
      pending('job-1', 3_000),
      refused('unavailable'),
    ];
    const health = healthOf({ [first]: taking(4_000) });
    await walkBy(health, [polls, [rendered]]).result;
    expect(health.notes.map(([route, { sign }]) => `${route} ${sign}`)).toEqual([
      `${first} failure`,
      `${second} rendered`,
    ]);
    const quick = healthOf({ [first]: taking(5_000) });
    await walkBy(quick, [[...polls.slice(0, 3), rendered], []]).result;
    expect(quick.notes).toMatchObject([[first, { sign: 'rendered', millis: 9_000 }]]);
  });

  it('A late job that renders in the end is noted as late and as rendered', async () => {
    const health = healthOf({ [first]: taking(2_000) });
    await walkBy(health, [[pending('job-1', 6_000), rendered], []]).result;
    expect(health.notes.map(([, { sign }]) => sign)).toEqual(['failure', 'rendered']);
  });

  it('A note that fails is a line of the log, and the image is there', async () => {
    const health = { ...healthOf({}), note: () => Promise.reject(new Error('down')) };
    const walked = walkBy(health, [[rendered], []]);
    expect((await walked.result).attempts).toHaveLength(1);
    expect(walked.log.lines).toContain('info health_not_noted');
  });
});
