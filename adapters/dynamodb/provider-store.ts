/**
 * Which providers are enabled, in the service item: every request's one read holds it
 * anyway, so that no function of the API has to look into the vendors' keys.
 */
import { GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { keys, type Item, type Table } from './table.ts';

export interface ProviderStore {
  enabled(): Promise<readonly string[]>;
  enable(provider: string): Promise<void>;
  disable(provider: string): Promise<void>;
}

export function createProviderStore(table: Table): ProviderStore {
  // A set: two operators at work at the same time cannot undo each other.
  const change = async (verb: 'ADD' | 'DELETE', provider: string): Promise<void> => {
    await table.client.send(
      new UpdateCommand({
        TableName: table.name,
        Key: keys.service(),
        UpdateExpression: `${verb} enabledProviders :provider`,
        ExpressionAttributeValues: { ':provider': new Set([provider]) },
      }),
    );
  };
  return {
    enabled: async () => {
      const answer = await table.client.send(new GetCommand({ TableName: table.name, Key: keys.service(), ConsistentRead: true }));
      return enabledProvidersOf(answer.Item);
    },
    enable: (provider) => change('ADD', provider),
    disable: (provider) => change('DELETE', provider),
  };
}

/** Of the service item, as it was read; DynamoDB has no empty set, so that the attribute comes and goes. */
export function enabledProvidersOf(item: Item | undefined): readonly string[] {
  const names = item?.['enabledProviders'];
  return names instanceof Set ? [...names].map(String).sort() : [];
}
