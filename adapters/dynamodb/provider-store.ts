/**
 * Which providers are enabled, in the service item: every request's one read holds it
 * anyway, so that no function of the API has to look into the vendors' keys.
 */
import { getItem, updateItem } from './send.ts';
import { keys, type Item, type Table } from './table.ts';

export interface ProviderStore {
  enabled(): Promise<readonly string[]>;
  enable(provider: string): Promise<void>;
  disable(provider: string): Promise<void>;
}

export function createProviderStore(table: Table): ProviderStore {
  // A set: two operators at work at the same time cannot undo each other.
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

/** Of the service item, as it was read; DynamoDB has no empty set, so that the attribute comes and goes. */
export function enabledProvidersOf(item: Item | undefined): readonly string[] {
  const names = item?.['enabledProviders'];
  return names instanceof Set ? [...names].map(String).sort() : [];
}
