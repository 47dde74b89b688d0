import {
  type PortalFunction,
  type PortalOperation,
  portalOperations,
  portalRoot,
  signInMethods,
  signInPaths,
} from '../../service/contract/operations.ts';

type Method = PortalOperation['method'] | 'ANY';

export type PortalRoute = readonly [method: Method, path: string, PortalFunction];

/**
 * The two functions with most operations get everything without a route of its own, because a stack has at most 500
 * resources. They refuse what they do not know. Without these routes the function of unknown paths would answer for
 * the public API, and count a rejection against the address of CloudFront.
 */
const others: readonly PortalRoute[] = [
  ['GET', `${portalRoot}/{proxy+}`, 'read'],
  ['ANY', `${portalRoot}/{proxy+}`, 'manage'],
  ['ANY', '/auth/{proxy+}', 'read'],
];

/** The gateway prefers a route with the path itself. @param answering the functions of the stack */
export function portalRoutes(answering: ReadonlySet<string>): readonly PortalRoute[] {
  const names = Object.keys(signInPaths) as (keyof typeof signInPaths)[];
  return [
    ...names.map((name): PortalRoute => [signInMethods[name], signInPaths[name], 'sign-in']),
    ...routesOfOperations().filter(([, , name]) => answering.has(name)),
    ...others,
  ];
}

/** One route for each path whose methods one function answers. The function refuses the other methods. */
function routesOfOperations(): readonly PortalRoute[] {
  const byPath = Map.groupBy(Object.values<PortalOperation>(portalOperations), ({ path }) => path);
  return [...byPath.values()].flatMap((operations) => {
    const [first, ...more] = operations.filter((one) => !isOfOthers(one)).map(routeOf);
    if (!first) return [];
    const isShared = more.length > 0 && operations.every((one) => one.function === first[2]);
    return isShared ? [['ANY', first[1], first[2]] as const] : [first, ...more];
  });
}

function isOfOthers({ method, function: name }: PortalOperation): boolean {
  return method === 'GET' ? name === 'read' : name === 'manage';
}

function routeOf({ method, path, function: name }: PortalOperation): PortalRoute {
  return [method, `${portalRoot}${path}`, name];
}
