import fc from 'fast-check';
import { describe, expect, it, afterAll, beforeAll, beforeEach } from 'vitest';
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { isRouteOrder, routeOrders, createProviderStore } from '../../service/catalog/provider-store.ts';
import { noHealth, type RouteHealth } from '../../service/render/route-health.ts';
import { planRoutes, probing, type RankedRoute } from '../../service/render/route-order.ts';
import { asMicros } from '../../service/values/money.ts';
import type { Item, Table } from '../../service/aws/dynamodb/table.ts';
import { createHealthStore, healthKey, type HealthStore } from '../../service/render/health-store.ts';
import { type Engine, startStandIn } from '../tables/engines.ts';

const instant = Date.parse('2026-11-21T12:00:30Z');
const hour = Math.floor(instant / 3_600_000) * 3_600_000;

function rowOf(provider: string, health: Partial<RouteHealth> = {}, micros?: number): RankedRoute {
  return {
    route: { provider, providerModel: 'm' },
    health: { ...noHealth, ...health },
    costMicros: micros === undefined ? undefined : asMicros(micros),
  };
}
const taking = (millis: number): Partial<RouteHealth> => ({
  hours: [{ startMillis: hour, rendered: 1, millis }],
});
const names = (routes: readonly RankedRoute[]): string => routes.map((one) => one.route.provider).join(' ');
const open = { openedAt: instant - 20_000, probeAt: instant + 1 };
const due = { openedAt: instant - 20_000, probeAt: instant };
const resting = { restUntil: instant + 1 };

describe('the order of routes', () => {
  it('The given order is that of the catalog', () => {
    const given = [rowOf('a', taking(9), 9), rowOf('b', taking(1), 1), rowOf('c')];
    expect(names(planRoutes(given, 'given', instant).routes)).toBe('a b c');
  });

  it('The cheapest route comes first, and a route without a known cost last', () => {
    const given = [rowOf('a'), rowOf('b', {}, 30), rowOf('c', {}, 10), rowOf('d', {}, 10)];
    expect(names(planRoutes(given, 'cheapest', instant).routes)).toBe('c d b a');
  });

  it('The fastest route comes first, and a route that nobody measured after the measured ones', () => {
    const given = [rowOf('a'), rowOf('b', taking(30)), rowOf('c', taking(10))];
    const plan = planRoutes(given, 'fastest', instant);
    expect(names(plan.routes)).toBe('c b a');
    expect(names(plan.probes)).toBe('a');
  });

  it('Routes of which none is measured stay in the given order, and nothing is probed', () => {
    const plan = planRoutes([rowOf('a'), rowOf('b')], 'fastest', instant);
    expect(names(plan.routes)).toBe('a b');
    expect(plan.probes).toEqual([]);
  });

  it('Open circuits come after the others, and resting routes last', () => {
    const given = [rowOf('a', resting), rowOf('b', open), rowOf('c'), rowOf('d', { restUntil: instant })];
    expect(names(planRoutes(given, 'given', instant).routes)).toBe('c d b a');
  });

  it('A vendor that is cheapest and open comes after a dearer one that renders', () => {
    const given = [rowOf('a', {}, 90), rowOf('b', open, 10)];
    expect(names(planRoutes(given, 'cheapest', instant).routes)).toBe('a b');
  });

  it('All routes are asked in the wished order when all circuits are open', () => {
    expect(names(planRoutes([rowOf('a', open), rowOf('b', open)], 'given', instant).routes)).toBe('a b');
  });

  it('A due probe is offered only ahead of the first route that is well', () => {
    expect(names(planRoutes([rowOf('a', due), rowOf('b')], 'given', instant).probes)).toBe('a');
    expect(names(planRoutes([rowOf('a', open), rowOf('b')], 'given', instant).probes)).toBe('');
    expect(names(planRoutes([rowOf('a'), rowOf('b', due)], 'given', instant).probes)).toBe('');
    expect(names(planRoutes([rowOf('a', open), rowOf('b', due)], 'given', instant).probes)).toBe('b');
  });

  it('The route whose probe was claimed comes first', () => {
    const plan = planRoutes([rowOf('a', due), rowOf('b'), rowOf('c')], 'given', instant);
    expect(names(probing(plan, plan.probes[0]))).toBe('a b c');
    expect(names(probing(plan, undefined))).toBe('b c a');
  });

  it('Only the three names are orders', () => {
    expect([...routeOrders, 'slowest', undefined, null].filter(isRouteOrder)).toEqual(routeOrders);
  });

  it('Whatever is known of the routes, the order has each of them once', () => {
    const time = fc.integer({ min: instant - 100_000, max: instant + 100_000 });
    const health = fc.record(
      { openedAt: time, probeAt: time, restUntil: time, probes: fc.nat(5) },
      { requiredKeys: [] },
    );
    const known = fc.tuple(health, fc.option(fc.nat(99_999)), fc.option(fc.nat(99)));
    fc.assert(
      fc.property(fc.array(known, { maxLength: 6 }), fc.constantFrom(...routeOrders), (all, order) => {
        const given = all.map(([state, millis, cost], place) =>
          rowOf(`p${place}`, { ...state, ...(millis === null ? {} : taking(millis)) }, cost ?? undefined),
        );
        const plan = planRoutes(given, order, instant);
        for (const ordered of [plan.routes, probing(plan, plan.probes[0])])
          expect(new Set(ordered)).toEqual(new Set(given));
        expect(plan.routes).toHaveLength(given.length);
      }),
    );
  });
});

const route = { provider: 'fal', providerModel: 'fal-ai/flux-2', quality: 'high' };
const other = { provider: 'bfl', providerModel: 'flux-2' };
const now = 1_795_262_430_000;
const window = 1_795_262_430_000;
const thisHour = Math.floor(now / 3_600_000) * 3_600_000;
const { signal } = new AbortController();

let engine: Engine;
let table: Table;
let store: HealthStore;
beforeAll(async () => {
  engine = await startStandIn();
});
afterAll(() => engine.end());
beforeEach(async () => {
  table = await engine.open();
  store = createHealthStore(table);
});

const failure = { sign: 'failure', weight: 1 } as const;
const stored = async (): Promise<Item> =>
  (await table.client.send(new GetCommand({ TableName: table.name, Key: healthKey(route) }))).Item ?? {};

describe('the health of routes in the table', () => {
  it('A route of which nothing was noted is unknown, and the order is the given one', async () => {
    expect(await store.read([route, other], now, signal)).toEqual({
      order: 'given',
      health: [noHealth, noHealth],
    });
    expect(store.seen(route)).toEqual(noHealth);
  });

  it('The order is the one that an operator has set', async () => {
    const providers = createProviderStore(table);
    expect(await providers.routeOrder()).toBe('given');
    await providers.setRouteOrder('fastest');
    expect(await providers.routeOrder()).toBe('fastest');
    expect((await store.read([route], now, signal)).order).toBe('fastest');
  });

  it('A pause is known after ten seconds, and at once with the health of a route', async () => {
    const providers = createProviderStore(table);
    expect(await store.paused(now, signal)).toEqual([]);
    await providers.pause('fal', { since: '2026-11-21T10:00:00.000Z' });
    expect(await store.paused(now + 9_999, signal)).toEqual([]);
    expect(await store.paused(now + 10_000, signal)).toEqual(['fal']);
    await providers.resume('fal');
    await store.read([route], now + 10_001, signal);
    expect(await store.paused(now + 10_002, signal)).toEqual([]);
  });

  it('Two operators pause two providers at the same time', async () => {
    const providers = createProviderStore(table);
    const since = '2026-11-21T10:00:00.000Z';
    await Promise.all(['fal', 'bfl'].map(async (name) => providers.pause(name, { since })));
    expect(await providers.pauses()).toEqual({ fal: { since }, bfl: { since } });
  });

  it('Notes of several functions add up, each in its window and hour', async () => {
    const another = createHealthStore(table);
    await store.note(route, { sign: 'rendered', weight: 4, millis: 2_000 }, now, signal);
    await another.note(route, { sign: 'rendered', weight: 1, millis: 700.4 }, now + 4_999, signal);
    await another.note(route, failure, now + 4_999, signal);
    await another.note(route, { sign: 'key_refused', weight: 2 }, now + 5_000, signal);
    const known = {
      windows: [
        { startMillis: window, rendered: 5, failed: 1, keyRefused: 0 },
        { startMillis: window + 5_000, rendered: 0, failed: 2, keyRefused: 2 },
      ],
      hours: [{ startMillis: thisHour, rendered: 5, millis: 8_700 }],
    };
    expect((await store.read([other, route], now, signal)).health).toEqual([noHealth, known]);
    expect(store.seen(route)).toEqual(known);
  });

  it('A note returns the sums behind it, and keeps until when the vendor rests', async () => {
    const note = { ...failure, restUntil: now + 20_000 };
    expect(await store.note(route, note, now, signal)).toMatchObject({
      windows: [{ failed: 1 }],
      restUntil: now + 20_000,
    });
    expect((await store.note(route, failure, now, signal)).restUntil).toBe(now + 20_000);
  });

  it('A note removes the windows that are over and that its function has seen', async () => {
    await store.note(route, { sign: 'rendered', weight: 1, millis: 5 }, now, signal);
    await store.note(route, failure, now + 59_000, signal);
    expect(await stored()).toMatchObject({ [`r${window / 5_000}`]: 1 });
    await store.note(route, failure, now + 61_000, signal);
    expect(await stored()).not.toHaveProperty(`r${window / 5_000}`);
    await store.note(route, failure, now + 7_300_000, signal);
    const late = await stored();
    expect(Object.keys(late).filter((name) => /^[rfkht]\d+$/.test(name))).toHaveLength(1);
    expect(late['expiresAtSeconds']).toBe(Math.ceil((now + 7_300_000) / 1000) + 7 * 86_400);
  });

  it('Functions that each see a route once do not let its item grow', async () => {
    for (let minute = 0; minute < 45; minute += 1)
      await createHealthStore(table).note(route, failure, now + minute * 60_000, signal);
    expect(Object.keys(await stored()).filter((name) => name.startsWith('f')).length).toBeLessThan(32);
  });

  it('The circuit opens once, and closes only as the circuit that was seen', async () => {
    const before = await store.note(route, failure, now, signal);
    expect(await store.open(route, now, signal)).toBe(true);
    expect(await store.open(route, now + 1, signal)).toBe(false);
    const [open = noHealth] = (await store.read([route], now, signal)).health;
    expect(open).toMatchObject({ openedAt: now, probeAt: now + 15_000, probes: 0 });
    expect(await store.close(route, { ...open, openedAt: now - 1 }, signal)).toBe(false);
    expect(await store.close(route, open, signal)).toBe(true);
    // The failures of the outage do not open the circuit again.
    expect(before.windows).toMatchObject([{ failed: 1 }]);
    expect((await store.read([route], now, signal)).health).toEqual([noHealth]);
  });

  it('Of all creations that saw the same circuit, one gets the probe', async () => {
    await store.open(route, now, signal);
    const [open = noHealth] = (await store.read([route], now, signal)).health;
    const claims = [1, 2, 3].map(async () => store.claimProbe(route, open, now + 15_000, signal));
    expect((await Promise.all(claims)).filter(Boolean)).toHaveLength(1);
    const [probed = noHealth] = (await store.read([route], now, signal)).health;
    expect(probed).toMatchObject({ probeAt: now + 30_000, probes: 1 });
    expect(await store.claimProbe(route, probed, now + 30_000, signal)).toBe(true);
  });

  it('A route that nobody measured is claimed by one creation, too', async () => {
    expect(await store.claimProbe(other, noHealth, now, signal)).toBe(true);
    expect(await store.claimProbe(other, noHealth, now, signal)).toBe(false);
    expect((await store.read([other], now, signal)).health).toMatchObject([{ probeAt: now + 60_000 }]);
  });

  it('An environment knows when it last read a route, and a read that fails is none', async () => {
    expect(store.readAt(route)).toBeUndefined();
    await store.read([route], now, signal);
    await expect(store.read([route], now + 5_000, AbortSignal.abort())).rejects.toThrow();
    expect([store.readAt(route), store.readAt(other)]).toEqual([now, undefined]);
  });

  it('Nothing is sent once the time is over', async () => {
    const over = AbortSignal.abort();
    await expect(store.read([route], now, over)).rejects.toThrow();
    await expect(store.note(route, failure, now, over)).rejects.toThrow();
    expect(await stored()).toEqual({});
  });
});
