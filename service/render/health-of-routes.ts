/** The health of all routes of a catalog, for operators. */
import type { Catalog } from '../catalog/catalog-schema.ts';
import { routeName } from '../catalog/providers.ts';
import type { RouteChoice } from '../creations/creation.ts';
import type { HealthStore } from './health-store.ts';
import { noHealth, type RouteHealth } from './route-health.ts';

/** One call reads a hundred items at most, and the order is one of them. */
const routesAtOnce = 90;

/** In the order of the catalog, each once: several models may share a route. */
export function routesOf({ models }: Pick<Catalog, 'models'>): readonly RouteChoice[] {
  const routes = models.flatMap((model) =>
    model.routes.map(({ provider, provider_model: providerModel, quality }): RouteChoice => {
      const route = { provider, providerModel };
      return quality === null ? route : { ...route, quality };
    }),
  );
  return [...new Map(routes.map((route) => [routeName(route), route])).values()];
}

/** Each route with its health. A route of which nothing was noted is `noHealth`. */
export async function readHealth(
  routes: readonly RouteChoice[],
  store: Pick<HealthStore, 'read'>,
  nowMillis: number,
  signal: () => AbortSignal,
): Promise<readonly (readonly [RouteChoice, RouteHealth])[]> {
  const found: (readonly [RouteChoice, RouteHealth])[] = [];
  for (let start = 0; start < routes.length; start += routesAtOnce) {
    const part = routes.slice(start, start + routesAtOnce);
    const { health } = await store.read(part, nowMillis, signal());
    found.push(...part.map((route, place) => [route, health[place] ?? noHealth] as const));
  }
  return found;
}
