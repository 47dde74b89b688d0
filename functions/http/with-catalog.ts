import { catalogFor, type BeforeCatalog } from '../../core/sold-catalog.ts';
import type { SoldCatalog } from '../../core/operator-catalog.ts';
import type { Caller } from './caller.ts';

/** The operation with the catalog of the revision that was read with its caller. Throws Overloaded. */
export function withCatalog<Request, Services extends { readonly catalog: SoldCatalog }, Answer>(
  handle: (request: Request, caller: Caller, services: Services) => Promise<Answer>,
): (request: Request, caller: Caller, services: BeforeCatalog<Services>) => Promise<Answer> {
  return async (request, caller, services) => handle(request, caller, await addCatalog(caller, services));
}

/** The services of an operation with the catalog. Throws Overloaded. */
export async function addCatalog<Services extends { readonly catalog: SoldCatalog }>(
  { state, nowMillis }: Pick<Caller, 'state' | 'nowMillis'>,
  services: BeforeCatalog<Services>,
): Promise<Services> {
  const catalog = await catalogFor(state, nowMillis, services.catalogs);
  // The compiler does not see that both parts together are the whole.
  return { ...services, catalog } as unknown as Services;
}
