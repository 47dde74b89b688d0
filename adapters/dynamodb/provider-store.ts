/**
 * The enabled providers are a list in the service item. Every request reads that item anyway, so that no
 * function of the API needs to read the vendors' keys.
 */
import { getItem, updateItem } from './send.ts';
import { keys, type Item, type Table } from './table.ts';

export interface ProviderStore {
  enabled(): Promise<readonly string[]>;
  enable(provider: string): Promise<void>;
  disable(provider: string): Promise<void>;
}

export function createProviderStore(table: Table): ProviderStore {
  // The list is a set, so that two operators at the same time do not undo each other's changes.
  const change = async (verb: 'ADD' | 'DELETE', provider: string): Promise<void> => {
    await updateItem(table, keys.service(), {
      UpdateExpression: `${verb} enabledProviders :provider`,
      ExpressionAttributeValues: { ':provider': new Set([provider]) },
    });
  };
  return {
    enabled: async () => enabledProvidersOf(await getItem(table, keys.service())),
    enable: (provider) => change('ADD', provider),
    disable: (provider) => change('DELETE', provider),
  };
}

/**
 * Reads the list from the service item. DynamoDB has no empty set, so the attribute is absent while none is
 * enabled.
 */
export function enabledProvidersOf(item: Item | undefined): readonly string[] {
  const names = item?.['enabledProviders'];
  return names instanceof Set ? [...names].map(String).sort() : [];
}
