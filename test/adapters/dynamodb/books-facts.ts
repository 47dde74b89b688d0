/** Facts about the audit's reads, which combine the creations of the ledger and of the list. */
import { DeleteCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { expect } from 'vitest';
import { readBooks } from '../../../adapters/dynamodb/audit-store.ts';
import { creationToItem } from '../../../adapters/dynamodb/mapping.ts';
import { keys } from '../../../adapters/dynamodb/table.ts';
import { auditAccount } from '../../../core/ledger.ts';
import { accountId, aCreation } from '../../fixtures/records.ts';
import { idOf, orderOf, type Facts } from './facts.ts';

export const booksFacts: Facts = {
  'A creation without a ledger row is in the books, and the audit reports it': async ({ table }) => {
    await table.client.send(
      new PutCommand({ TableName: table.name, Item: creationToItem(aCreation({ id: idOf(1) })) }),
    );
    const [books] = await readBooks(table);
    expect(books?.creations.map(({ id }) => id)).toEqual([idOf(1)]);
    expect(books && auditAccount(books)).not.toEqual([]);
  },

  'A creation that is in the ledger and in no list is in the books once': async ({ table, charges }) => {
    await charges.charge(orderOf(1));
    await charges.charge(orderOf(2));
    const { listing: _listing, listed: _listed, ...unlisted } = creationToItem(orderOf(1).creations[0]);
    await table.client.send(new PutCommand({ TableName: table.name, Item: unlisted }));
    const [books] = await readBooks(table, accountId);
    expect(books?.creations.map(({ id }) => id).sort()).toEqual([idOf(1), idOf(2)]);
    expect(books && auditAccount(books)).toEqual([]);
  },

  'A charged creation without a record is a difference': async ({ table, charges }) => {
    await charges.charge(orderOf(1));
    await table.client.send(new DeleteCommand({ TableName: table.name, Key: keys.creation(idOf(1)) }));
    const [books] = await readBooks(table);
    expect(books?.creations).toEqual([]);
    expect(books && auditAccount(books)).not.toEqual([]);
  },

  'The books hold more creations than one read returns': async ({ table }) => {
    const ids = Array.from({ length: 103 }, (_, index) => idOf(index));
    for (const id of ids)
      await table.client.send(
        new PutCommand({ TableName: table.name, Item: creationToItem(aCreation({ id })) }),
      );
    const [books] = await readBooks(table, accountId);
    expect(books?.creations.map(({ id }) => id).sort()).toEqual(ids.sort());
  },
};
