/**
 * The choices of people are in the items of the members, so a removed member loses the e-mails by the same
 * write. The account counts the choices, so that a check of thresholds needs no further read.
 */
import { queryAll } from '../aws/dynamodb/query.ts';
import { getItem } from '../aws/dynamodb/send.ts';
import { type ItemKey, keys, type Table } from '../aws/dynamodb/table.ts';
import { transact, type TransactItem } from '../aws/dynamodb/transaction.ts';
import { Overloaded } from '../values/errors.ts';
import type { AccountId, PersonId } from '../values/ids.ts';
import type { MailChoice, MailReader } from './mail-readers.ts';

function memberKey(account: AccountId, person: PersonId): ItemKey {
  return { pk: keys.account(account).pk, sk: `MEMBER#${person}` };
}

export function createMailReads(table: Table) {
  return {
    readers: async (account: AccountId): Promise<readonly MailReader[]> =>
      (await queryAll(table, keys.account(account).pk, 'MEMBER#')).flatMap(({ mail, personId }) =>
        mail === undefined ? [] : [{ ...(mail as MailChoice), personId: personId as PersonId }],
      ),
  };
}

export function createMailStore(table: Table) {
  const reads = createMailReads(table);
  return {
    ...reads,
    choice: async (account: AccountId, person: PersonId): Promise<MailChoice | undefined> =>
      (await getItem(table, memberKey(account, person)))?.['mail'] as MailChoice | undefined,
    /** False when the person is no longer a member of the account. */
    choose: async (account: AccountId, person: PersonId, mail: MailChoice): Promise<boolean> =>
      change(table, [
        {
          TableName: table.name,
          Key: memberKey(account, person),
          UpdateExpression: 'SET mail = :mail',
          ConditionExpression: 'attribute_exists(pk)',
          ExpressionAttributeValues: { ':mail': mail },
        },
        {
          TableName: table.name,
          Key: keys.account(account),
          UpdateExpression: 'ADD mailChoices :one',
          ConditionExpression: 'attribute_exists(pk)',
          ExpressionAttributeValues: { ':one': 1 },
        },
      ]),
    /**
     * Removes the count with the last choice, if nobody has chosen since. A count that stays only costs
     * reads.
     */
    end: async (account: AccountId, person: PersonId, mailChoices: number | undefined): Promise<void> => {
      const Key = memberKey(account, person);
      const removal = {
        TableName: table.name,
        Key,
        UpdateExpression: 'REMOVE mail',
        ConditionExpression: 'attribute_exists(pk)',
      };
      const others = (await reads.readers(account)).filter(({ personId }) => personId !== person);
      const uncount = {
        TableName: table.name,
        Key: keys.account(account),
        UpdateExpression: 'REMOVE mailChoices',
        ConditionExpression: 'mailChoices = :read',
        ExpressionAttributeValues: { ':read': mailChoices },
      };
      const isLast = others.length === 0 && mailChoices !== undefined;
      if (isLast && (await change(table, [removal, uncount]))) return;
      await change(table, [removal]);
    },
  };
}

async function change(
  table: Table,
  updates: readonly NonNullable<TransactItem['Update']>[],
): Promise<boolean> {
  const outcome = await transact(
    table,
    updates.map((Update) => ({ Update })),
  );
  if (outcome.kind === 'overloaded') throw new Overloaded('the account stayed busy');
  return outcome.kind === 'done';
}
