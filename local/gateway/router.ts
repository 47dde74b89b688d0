import type { LocalRestRoute, LocalRoute } from '../template.ts';

export interface RouteMatch {
  readonly route: LocalRoute;
  /** The decoded values of the path's variables. Empty when the path has no variables. */
  readonly pathParameters: Readonly<Record<string, string>>;
}

interface Pattern {
  readonly route: LocalRoute;
  readonly method: string;
  readonly steps: readonly string[];
}

/** Finds routes as an HTTP API does: the most exact path wins from the left, then a named method, then $default. */
export function createRouter(
  routes: readonly LocalRoute[],
): (method: string, path: string) => RouteMatch | undefined {
  const fallback = routes.find(({ routeKey }) => routeKey === '$default');
  const patterns = routes
    .filter((route) => route !== fallback)
    .map(asPattern)
    .sort(byPrecedence);
  return (method, path) => {
    const steps = stepsOf(path);
    for (const { route, method: wanted, steps: pattern } of patterns) {
      if (wanted !== method && wanted !== 'ANY') continue;
      const pathParameters = match(pattern, steps);
      if (pathParameters !== undefined) return { route, pathParameters };
    }
    return fallback === undefined ? undefined : { route: fallback, pathParameters: {} };
  };
}

function asPattern(route: LocalRoute): Pattern {
  const [method = '', path = ''] = route.routeKey.split(' ');
  return { route, method, steps: stepsOf(path) };
}

function stepsOf(path: string): string[] {
  return path.replace(/^\//, '').split('/');
}

function match(pattern: readonly string[], steps: readonly string[]): Record<string, string> | undefined {
  const found: Record<string, string> = {};
  for (const [index, step] of pattern.entries()) {
    const value = steps[index];
    if (value === undefined) return undefined;
    const variable = /^\{([^}+]+)(\+)?\}$/.exec(step);
    if (variable?.[1] === undefined) {
      if (step !== value) return undefined;
      continue;
    }
    if (variable[2] === '+') {
      found[variable[1]] = decode(steps.slice(index).join('/'));
      return found;
    }
    if (value === '') return undefined;
    found[variable[1]] = decode(value);
  }
  return pattern.length === steps.length ? found : undefined;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function byPrecedence(left: Pattern, right: Pattern): number {
  const count = Math.max(left.steps.length, right.steps.length);
  for (let index = 0; index < count; index += 1) {
    const difference = rank(left.steps[index]) - rank(right.steps[index]);
    if (difference !== 0) return difference;
  }
  return Number(left.method === 'ANY') - Number(right.method === 'ANY');
}

function rank(step: string | undefined): number {
  if (step === undefined) return 3;
  if (step.endsWith('+}')) return 2;
  return step.startsWith('{') ? 1 : 0;
}

export interface RestMatch {
  readonly route: LocalRestRoute;
  /** The path of the resource, such as `/v1/models/{id}`. */
  readonly resource: string;
  readonly pathParameters: Readonly<Record<string, string>>;
}

/** Finds methods as a REST API does: the resource by its path alone, without a last slash, and then the method. */
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
