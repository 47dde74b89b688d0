import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { pictureOf } from '../../lab/vendors/fakes/fake-vendor.ts';
import type { RefusalReason } from '../../service/contract/failures.ts';
import { isCapability, newCallbackAddress } from '../../service/render/parking.ts';
import { judgeImage } from '../../service/render/route-verdict.ts';
import {
  closesNow,
  type HealthWindow,
  lateAfterMillis,
  meanMillis,
  nextProbe,
  noHealth,
  noteShares,
  noteWeight,
  opensNow,
  type RouteHealth,
  signOf,
  windowMillis,
} from '../../service/render/route-health.ts';
import type { AspectRatio } from '../../service/contract/request-fields.ts';
import { refusedBy } from '../../service/vendors/provider.ts';
import { creationId, seededBytes } from '../fixtures/records.ts';

const now = Math.floor(Date.parse('2026-11-21T12:00:30Z') / windowMillis) * windowMillis + 4_000;

/** A window that began so many seconds before the present one. */
function window(secondsAgo: number, sums: Partial<HealthWindow>): HealthWindow {
  return { startMillis: now - 4_000 - secondsAgo * 1000, rendered: 0, failed: 0, keyRefused: 0, ...sums };
}

const healthOf = (...windows: readonly HealthWindow[]): RouteHealth => ({ ...noHealth, windows });

describe('the circuit of a route', () => {
  it.each<[boolean, string, RouteHealth]>([
    [false, 'nothing is known', noHealth],
    [false, 'two creations failed', healthOf(window(0, { failed: 2 }))],
    [true, 'three creations failed in a minute and none rendered', healthOf(window(0, { failed: 3 }))],
    [false, 'three of four failed', healthOf(window(0, { failed: 3, rendered: 1 }))],
    [true, 'five failed and five rendered', healthOf(window(0, { failed: 5, rendered: 5 }))],
    [false, 'five failed and six rendered', healthOf(window(0, { failed: 5, rendered: 6 }))],
    [
      true,
      'all of the last ten seconds failed on a route that rendered many before',
      healthOf(window(15, { rendered: 900 }), window(5, { failed: 3 }), window(0, { failed: 2 })),
    ],
    [
      false,
      'the failures are older than ten seconds, and more rendered in the minute',
      healthOf(window(15, { failed: 20, rendered: 30 })),
    ],
    [true, 'five of ten failed within the minute', healthOf(window(50, { failed: 5, rendered: 5 }))],
    [false, 'the failures are older than a minute', healthOf(window(60, { failed: 50 }))],
    [
      true,
      'the vendor refused the key three times within ten seconds, although others rendered',
      healthOf(window(5, { failed: 3, keyRefused: 3, rendered: 57 })),
    ],
    [
      false,
      'the vendor refused the key twice',
      healthOf(window(5, { failed: 2, keyRefused: 2, rendered: 9 })),
    ],
    [
      false,
      'the vendor refused the key three times, and nearly all others rendered',
      healthOf(window(5, { failed: 3, keyRefused: 3, rendered: 58 })),
    ],
  ])('It is %s that the circuit opens when %s', (opens, _when, health) => {
    expect(opensNow(health, now)).toBe(opens);
  });

  it('The circuit closes after an image of a creation that was begun since it opened', () => {
    const open = { ...noHealth, openedAt: now };
    expect(closesNow(open, 'rendered', now)).toBe(true);
    expect(closesNow(open, 'rendered', now - 1)).toBe(false);
    expect(closesNow(open, 'failure', now)).toBe(false);
    expect(closesNow(noHealth, 'rendered', now)).toBe(false);
  });

  it('Probes are 15 seconds apart at first, and 60 seconds at most', () => {
    const waits = [0, 1, 2, 3, 9].map(
      (probes) => (nextProbe({ ...noHealth, openedAt: now, probes }, now) - now) / 1000,
    );
    expect(waits).toEqual([15, 30, 60, 60, 60]);
    expect(nextProbe(noHealth, now) - now).toBe(60_000);
  });
});

describe('what the end of an attempt says about its route', () => {
  it.each<[RefusalReason, string | undefined, string | undefined]>([
    ['unavailable', 'HTTP 429', 'failure'],
    ['unknown_outcome', 'ECONNRESET', 'failure'],
    ['credentials', 'HTTP 401', 'key_refused'],
    ['failed', 'HTTP 500 server_error', 'failure'],
    ['failed', 'HTTP 200 failed', undefined],
    ['failed', 'HTTP 5000', undefined],
    ['failed', undefined, undefined],
    ['prompt', 'HTTP 500', undefined],
    ['source_image', 'HTTP 400', undefined],
    ['nothing_rendered', 'HTTP 200', undefined],
    ['timed_out', 'HTTP 504', undefined],
    ['cancelled', undefined, undefined],
    ['unknown_answer', 'HTTP 299', undefined],
  ])('The refusal %s with the detail %s is the sign %s', (reason, detail, sign) => {
    expect(signOf(refusedBy(reason, detail))).toBe(sign);
  });

  it('An image and a missing answer are signs', () => {
    expect(signOf({ kind: 'rendered', bytes: new Uint8Array() })).toBe('rendered');
    expect(signOf({ kind: 'no_answer' })).toBe('failure');
  });
});

describe('the time of a rendering', () => {
  const hour = Math.floor(now / 3_600_000) * 3_600_000;
  const measured = (startMillis: number): RouteHealth => ({
    ...noHealth,
    hours: [{ startMillis, rendered: 4, millis: 40_000 }],
  });

  it('The usual time is the mean of this hour and the one before', () => {
    expect(meanMillis(measured(hour), now)).toBe(10_000);
    expect(meanMillis(measured(hour - 3_600_000), now)).toBe(10_000);
    expect(meanMillis(measured(hour - 7_200_000), now)).toBeUndefined();
    expect(meanMillis(noHealth, now)).toBeUndefined();
  });

  it('An attempt is late after twice the usual time, and never before five seconds', () => {
    expect(lateAfterMillis(measured(hour), now)).toBe(20_000);
    const quick = { ...noHealth, hours: [{ startMillis: hour, rendered: 100, millis: 1_000 }] };
    expect(lateAfterMillis(quick, now)).toBe(5_000);
    expect(lateAfterMillis(noHealth, now)).toBeUndefined();
  });
});

describe('which ends are noted', () => {
  const busy = (perSecond: number): RouteHealth => healthOf(window(5, { rendered: perSecond * 5 }));

  it.each([
    [0, 1],
    [19, 1],
    [20, 4],
    [80, 16],
    [200, 64],
    [1000, 256],
  ])('At %d images a second, one note stands for %d', (perSecond, weight) => {
    expect(noteWeight(busy(perSecond), 'rendered', now)).toBe(weight);
    // Failures are counted by themselves: the first ones of a busy route are all noted.
    expect(noteWeight(busy(perSecond), 'failure', now)).toBe(1);
  });

  it('No route takes more than 20 notes of a kind in a second, up to 1,000 creations a second', () => {
    for (let perSecond = 1; perSecond <= 1_000; perSecond += 1)
      expect(perSecond / noteWeight(busy(perSecond), 'rendered', now)).toBeLessThanOrEqual(20);
    expect(noteShares.map(({ fromPerSecond }) => fromPerSecond)).toEqual([800, 200, 80, 20]);
  });

  it('A busy minute that is over, and an open circuit, let each end be noted', () => {
    expect(noteWeight(healthOf(window(20, { rendered: 5_000 })), 'rendered', now)).toBe(1);
    expect(noteWeight({ ...busy(1000), openedAt: now }, 'rendered', now)).toBe(1);
  });
});

const { url, hash } = newCallbackAddress('https://api.test', 'fal', creationId, seededBytes);

const capability = url.slice(url.lastIndexOf('/') + 1);

describe('the address of a callback', () => {
  it('The address ends in the capability, which is 32 random bytes', () => {
    expect(url).toBe(`https://api.test/callbacks/v1/fal/${creationId}/${capability}`);
    expect(Buffer.from(capability, 'base64url')).toEqual(Buffer.from(seededBytes(32)));
  });

  it('The stored hash is the SHA-256 of the capability as it stands in the address', () => {
    expect(hash).toBe(createHash('sha256').update(capability).digest('hex'));
  });

  it('Only the capability of the address is accepted', () => {
    expect(isCapability(capability, hash)).toBe(true);
    const other = `${capability.startsWith('B') ? 'C' : 'B'}${capability.slice(1)}`;
    for (const wrong of [other, capability.slice(1), `${capability}A`, `${capability}=`, '', hash])
      expect(isCapability(wrong, hash), wrong).toBe(false);
  });

  it('An attempt whose stored hash is broken has no capability', () => {
    expect(isCapability(capability, '')).toBe(false);
    expect(isCapability(capability, hash.slice(2))).toBe(false);
  });
});

const judged = (width: number, height: number, aspectRatio: AspectRatio) =>
  judgeImage(pictureOf('png', width, height), { outputFormat: 'png', aspectRatio });

describe('the judgement of an image that a provider sent', () => {
  it('An image of the asked type and ratio is good, and its type and pixels are known', () => {
    expect(judged(1024, 512, '1:1')).toEqual({
      kind: 'good',
      header: { contentType: 'image/png', width: 1024, height: 512 },
      isOfAskedRatio: false,
    });
    expect(judged(1536, 1024, '3:2')).toMatchObject({ kind: 'good', isOfAskedRatio: true });
    expect(judged(1024, 1536, '3:2')).toMatchObject({ kind: 'good', isOfAskedRatio: false });
    expect(judged(1024, 1536, '2:3')).toMatchObject({ kind: 'good', isOfAskedRatio: true });
  });

  // The tolerance is a tenth of the asked ratio. Floats put an image of exactly one tenth outside of it.
  it.each([
    [1_099, 1_000, true],
    [1_101, 1_000, false],
    [901, 1_000, true],
    [899, 1_000, false],
    [5, 4, false],
    [1, 1, true],
  ])('An image of %d x %d pixels is good, and has the ratio 1:1: %j', (width, height, isOfAskedRatio) => {
    expect(judged(width, height, '1:1')).toMatchObject({ kind: 'good', isOfAskedRatio });
  });

  it('An image of 1536 x 640 pixels has the ratio 21:9, because vendors round to this size', () => {
    expect(judged(1_536, 640, '21:9')).toMatchObject({ isOfAskedRatio: true });
  });

  it('An image of another type is unusable, and the detail names both types', () => {
    expect(judgeImage(pictureOf('png', 64, 64), { outputFormat: 'jpeg', aspectRatio: '1:1' })).toEqual({
      kind: 'unusable',
      detail: 'image/png instead of jpeg',
    });
  });

  it('Bytes that are no image are unusable, and the detail says how many bytes there are', () => {
    const asked = { outputFormat: 'png', aspectRatio: '1:1' } as const;
    expect(judgeImage(new Uint8Array(7), asked)).toEqual({ kind: 'unusable', detail: 'no image in 7 bytes' });
  });
});
