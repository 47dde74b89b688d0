import type { LocalRestRoute } from '../template.ts';
import { createRouter } from './router.ts';

/** The method of a REST API that a request leads to. */
export interface RestMatch {
  readonly route: LocalRestRoute;
  /** The path of the resource, such as `/v1/models/{id}`. */
  readonly resource: string;
  readonly pathParameters: Readonly<Record<string, string>>;
}

/**
 * Finds methods as a REST API does: first the resource, by its path alone, and then the method. So a path that has
 * only POST takes no GET, also when a greedy path would take it. A slash at the end of a path counts for nothing.
 */
export function createRestRouter(
  routes: readonly LocalRestRoute[],
): (method: string, path: string) => RestMatch | undefined {
  const resources = new Map<string, Map<string, LocalRestRoute>>();
  for (const route of routes) {
    const [method = '', path = ''] = route.routeKey.split(' ');
    const methods = resources.get(path) ?? new Map<string, LocalRestRoute>();
    resources.set(path, methods.set(method, route));
  }
  const find = createRouter(
    [...resources.keys()].map((path) => ({ routeKey: `ANY ${path}`, functionId: path })),
  );
  return (method, path) => {
    const found = find('ANY', path === '/' ? path : path.replace(/\/$/, ''));
    // A greedy step takes at least one character.
    if (found === undefined || Object.values(found.pathParameters).includes('')) return undefined;
    const resource = found.route.functionId;
    const methods = resources.get(resource);
    const route = methods?.get(method) ?? methods?.get('ANY');
    return route && { route, resource, pathParameters: found.pathParameters };
  };
}
