import { describe, expect, it } from 'vitest';
import { marshall } from '@aws-sdk/util-dynamodb';
import { createAccountStore } from '../../../adapters/dynamodb/account-store.ts';
import { accountToItem } from '../../../adapters/dynamodb/mapping.ts';
import type { Table } from '../../../adapters/dynamodb/table.ts';
import { Overloaded } from '../../../core/ports/requests.ts';
import { accountId, anAccount } from '../../fixtures/records.ts';
import { fakeClock } from '../../functions/fakes.ts';
import { createDirectClient } from '../../../simulation/aws/http-exchange.ts';
import { AwsError } from '../../../local/aws/aws-error.ts';

describe('A list of hidden models that others keep changing', () => {
  it('The change is tried twenty times with growing pauses, and then the table is busy', async () => {
    let writes = 0;
    const client = createDirectClient((operation) => {
      if (operation === 'GetItem')
        return { Item: marshall(accountToItem(anAccount()), { removeUndefinedValues: true }) };
      writes += 1;
      throw new AwsError('ConditionalCheckFailedException', 'simulated');
    });
    const clock = fakeClock();
    const table: Table = { client, name: 'table', clock, randomBytes: (count) => new Uint8Array(count) };
    const changing = createAccountStore(table).changeHiddenModels(accountId, {
      hide: ['sandbox-pro'],
      show: [],
    });
    await expect(changing).rejects.toBeInstanceOf(Overloaded);
    expect(writes).toBe(20);
    expect(clock.sleeps).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
  });
});
