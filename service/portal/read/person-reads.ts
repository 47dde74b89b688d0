import { batchGet } from '../../aws/dynamodb/batch-get.ts';
import { queryPage } from '../../aws/dynamodb/send.ts';
import { listingIndex, type Table } from '../../aws/dynamodb/table.ts';
import { personFromItem } from '../people-store.ts';
import type { Person } from '../people.ts';
import { listOfEmail } from '../portal-key-items.ts';

/** Finds the people who signed in last with an address, as normalEmail() gives it. Throws Overloaded. */
export function createPeopleByEmail(table: Table) {
  return async (email: string): Promise<Person[]> => {
    const page = await queryPage(table, {
      IndexName: listingIndex.name,
      KeyConditionExpression: `${listingIndex.partition} = :list`,
      ExpressionAttributeValues: { ':list': listOfEmail(email) },
    });
    const found = (page.Items ?? []).map(({ pk, sk }) => ({ pk: String(pk), sk: String(sk) }));
    return (await batchGet(table, found)).map(personFromItem);
  };
}
