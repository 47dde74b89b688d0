/** Fakes of the health of routes. */
import type { RouteOrder } from '../../service/catalog/provider-store.ts';
import type { RouteChoice } from '../../service/creations/creation.ts';
import type { HealthNote, HealthStore } from '../../service/render/health-store.ts';
import { noHealth, type RouteHealth, routeName } from '../../service/render/route-health.ts';

/** Nothing is known of any route, and notes change nothing. */
export function noteNothing(): HealthStore {
  return healthOf({});
}

export interface Noted extends HealthStore {
  readonly notes: (readonly [route: string, note: HealthNote])[];
  /** The calls in order, such as "read" and "claim first#a#". */
  readonly calls: string[];
}

/** @param known by the name of the route (service/render/route-health.ts) */
export function healthOf(
  known: Readonly<Record<string, RouteHealth>>,
  {
    order = 'given',
    claims = true,
    readAt,
    paused = [],
  }: {
    readonly order?: RouteOrder;
    readonly claims?: boolean;
    readonly readAt?: number;
    readonly paused?: readonly string[];
  } = {},
): Noted {
  const calls: string[] = [];
  const notes: [string, HealthNote][] = [];
  const of = (route: RouteChoice): RouteHealth => known[routeName(route)] ?? noHealth;
  const told = async <Result>(call: string, result: Result): Promise<Result> => {
    calls.push(call);
    return Promise.resolve(result);
  };
  return {
    calls,
    notes,
    seen: of,
    readAt: () => readAt,
    paused: async () => Promise.resolve(paused),
    read: async (routes) => told('read', { order, health: routes.map(of) }),
    note: async (route, note) => {
      notes.push([routeName(route), note]);
      return Promise.resolve(of(route));
    },
    open: async (route) => told(`open ${routeName(route)}`, true),
    close: async (route) => told(`close ${routeName(route)}`, true),
    claimProbe: async (route) => told(`claim ${routeName(route)}`, claims),
  };
}
