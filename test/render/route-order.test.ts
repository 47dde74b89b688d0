import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isRouteOrder, routeOrders } from '../../service/catalog/provider-store.ts';
import { noHealth, type RouteHealth } from '../../service/render/route-health.ts';
import { planRoutes, probing, type RankedRoute } from '../../service/render/route-order.ts';
import { asMicros } from '../../service/values/money.ts';

const now = Date.parse('2026-11-21T12:00:30Z');
const hour = Math.floor(now / 3_600_000) * 3_600_000;

function route(provider: string, health: Partial<RouteHealth> = {}, micros?: number): RankedRoute {
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
const open = { openedAt: now - 20_000, probeAt: now + 1 };
const due = { openedAt: now - 20_000, probeAt: now };
const resting = { restUntil: now + 1 };

describe('the order of routes', () => {
  it('The given order is that of the catalog', () => {
    const given = [route('a', taking(9), 9), route('b', taking(1), 1), route('c')];
    expect(names(planRoutes(given, 'given', now).routes)).toBe('a b c');
  });

  it('The cheapest route comes first, and a route without a known cost last', () => {
    const given = [route('a'), route('b', {}, 30), route('c', {}, 10), route('d', {}, 10)];
    expect(names(planRoutes(given, 'cheapest', now).routes)).toBe('c d b a');
  });

  it('The fastest route comes first, and a route that nobody measured after the measured ones', () => {
    const given = [route('a'), route('b', taking(30)), route('c', taking(10))];
    const plan = planRoutes(given, 'fastest', now);
    expect(names(plan.routes)).toBe('c b a');
    expect(names(plan.probes)).toBe('a');
  });

  it('Routes of which none is measured stay in the given order, and nothing is probed', () => {
    const plan = planRoutes([route('a'), route('b')], 'fastest', now);
    expect(names(plan.routes)).toBe('a b');
    expect(plan.probes).toEqual([]);
  });

  it('Open circuits come after the others, and resting routes last', () => {
    const given = [route('a', resting), route('b', open), route('c'), route('d', { restUntil: now })];
    expect(names(planRoutes(given, 'given', now).routes)).toBe('c d b a');
  });

  it('A vendor that is cheapest and open comes after a dearer one that renders', () => {
    const given = [route('a', {}, 90), route('b', open, 10)];
    expect(names(planRoutes(given, 'cheapest', now).routes)).toBe('a b');
  });

  it('All routes are asked in the wished order when all circuits are open', () => {
    expect(names(planRoutes([route('a', open), route('b', open)], 'given', now).routes)).toBe('a b');
  });

  it('A due probe is offered only ahead of the first route that is well', () => {
    expect(names(planRoutes([route('a', due), route('b')], 'given', now).probes)).toBe('a');
    expect(names(planRoutes([route('a', open), route('b')], 'given', now).probes)).toBe('');
    expect(names(planRoutes([route('a'), route('b', due)], 'given', now).probes)).toBe('');
    expect(names(planRoutes([route('a', open), route('b', due)], 'given', now).probes)).toBe('b');
  });

  it('The route whose probe was claimed comes first', () => {
    const plan = planRoutes([route('a', due), route('b'), route('c')], 'given', now);
    expect(names(probing(plan, plan.probes[0]))).toBe('a b c');
    expect(names(probing(plan, undefined))).toBe('b c a');
  });

  it('Only the three names are orders', () => {
    expect([...routeOrders, 'slowest', undefined, null].map(isRouteOrder)).toEqual([
      true,
      true,
      true,
      false,
      false,
      false,
    ]);
  });

  it('Whatever is known of the routes, the order has each of them once', () => {
    const time = fc.integer({ min: now - 100_000, max: now + 100_000 });
    const health = fc.record(
      { openedAt: time, probeAt: time, restUntil: time, probes: fc.nat(5) },
      { requiredKeys: [] },
    );
    const known = fc.tuple(health, fc.option(fc.nat(99_999)), fc.option(fc.nat(99)));
    fc.assert(
      fc.property(fc.array(known, { maxLength: 6 }), fc.constantFrom(...routeOrders), (all, order) => {
        const given = all.map(([state, millis, cost], place) =>
          route(`p${place}`, { ...state, ...(millis === null ? {} : taking(millis)) }, cost ?? undefined),
        );
        const plan = planRoutes(given, order, now);
        for (const ordered of [plan.routes, probing(plan, plan.probes[0])])
          expect(new Set(ordered)).toEqual(new Set(given));
        expect(plan.routes).toHaveLength(given.length);
      }),
    );
  });
});
