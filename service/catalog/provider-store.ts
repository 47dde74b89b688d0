/** Enabled and paused providers, in the service item, which every request reads anyway. */
import { getItem, updateItem } from '../aws/dynamodb/send.ts';
import { type Item, keys, type Table } from '../aws/dynamodb/table.ts';
import type { ProviderPause, ProviderSwitches } from './providers.ts';

/** 'given': as in the catalog. 'cheapest': by the provider's bill. 'fastest': by the usual time. */
export const routeOrders = ['given', 'cheapest', 'fastest'] as const;
export type RouteOrder = (typeof routeOrders)[number];

export function isRouteOrder(value: unknown): value is RouteOrder {
  return routeOrders.some((order) => order === value);
}

export function createProviderStore(table: Table) {
  // The list is a set, so that two operators at the same time do not undo each other's changes.
  const change = async (verb: 'ADD' | 'DELETE', provider: string): Promise<void> => {
    await updateItem(table, keys.service(), {
      UpdateExpression: `${verb} enabledProviders :provider`,
      ExpressionAttributeValues: { ':provider': new Set([provider]) },
    });
  };
  return {
    enabled: async (): Promise<readonly string[]> => enabledProvidersOf(await getItem(table, keys.service())),
    /** What is enabled and what is paused, by one read. */
    standing: async () => {
      const item = await getItem(table, keys.service());
      return { enabled: enabledProvidersOf(item), pauses: pausesOf(item) };
    },
    enable: (provider: string): Promise<void> => change('ADD', provider),
    disable: (provider: string): Promise<void> => change('DELETE', provider),
    pauses: async (): Promise<Readonly<Record<string, ProviderPause>>> =>
      pausesOf(await getItem(table, keys.service())),
    pause: async (provider: string, pause: ProviderPause) => {
      await updateItem(table, keys.service(), {
        UpdateExpression: 'SET #pause = :pause',
        ExpressionAttributeNames: { '#pause': `${pausePrefix}${provider}` },
        ExpressionAttributeValues: { ':pause': pause },
      });
    },
    resume: async (provider: string) => {
      await updateItem(table, keys.service(), {
        UpdateExpression: 'REMOVE #pause',
        ExpressionAttributeNames: { '#pause': `${pausePrefix}${provider}` },
      });
    },
    routeOrder: async (): Promise<RouteOrder> => routeOrderOf(await getItem(table, keys.service())),
    setRouteOrder: async (order: RouteOrder) => {
      await updateItem(table, keys.service(), {
        UpdateExpression: 'SET routeOrder = :order',
        ExpressionAttributeValues: { ':order': order },
      });
    },
  };
}

export function switchesOf(item: Item | undefined): ProviderSwitches {
  const pausedProviders = Object.keys(pausesOf(item));
  return {
    enabledProviders: enabledProvidersOf(item),
    ...(pausedProviders.length > 0 && { pausedProviders }),
  };
}

/** Two operators at the same time do not undo each other's pauses, because each pause has its own attribute. */
const pausePrefix = 'paused#';

function pausesOf(item: Item | undefined): Readonly<Record<string, ProviderPause>> {
  return Object.fromEntries(
    Object.entries(item ?? {}).flatMap(([name, value]) =>
      name.startsWith(pausePrefix) ? [[name.slice(pausePrefix.length), value as ProviderPause]] : [],
    ),
  );
}

/** DynamoDB has no empty set, so the attribute is absent while no provider is enabled. */
function enabledProvidersOf(item: Item | undefined): readonly string[] {
  const names = item?.['enabledProviders'];
  return names instanceof Set ? [...names].map(String).sort() : [];
}

/** Names the operator's catalog by which requests are sold. Undefined: there is none. */
export function catalogRevisionOf(item: Item | undefined): string | undefined {
  const revision = item?.['catalogRevision'];
  return typeof revision === 'string' ? revision : undefined;
}

/** The order of the routes, from the service item: the catalog's, unless the operator set another. */
export function routeOrderOf(item: Item | undefined): RouteOrder {
  const order = item?.['routeOrder'];
  return isRouteOrder(order) ? order : 'given';
}

export type ProviderStore = ReturnType<typeof createProviderStore>;
