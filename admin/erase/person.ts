/** `people erase`: an address leaves accounts, invitations, the log of actions and the user pool. */
import { queryPages } from '../../service/aws/dynamodb/query.ts';
import { deleteItem, getItem, updateItem } from '../../service/aws/dynamodb/send.ts';
import { type Item, type ItemKey, keys, type Table } from '../../service/aws/dynamodb/table.ts';
import { topicOf } from '../../service/notices/mail-readers.ts';
import { invitationIdOf, type PeopleScope } from '../../service/portal/people.ts';
import { inOneStep, toUpdate } from '../../service/portal/invitation-store.ts';
import { personFromItem } from '../../service/portal/people-store.ts';
import { partitionOf } from '../../service/operated/action-store.ts';
import { portalKeys } from '../../service/portal/portal-key-items.ts';
import type { AccountId, PersonId } from '../../service/values/ids.ts';
import { accountsOf } from '../commands/creations.ts';
import { OperatorError } from '../operator-error.ts';
import type { OperatorServices } from '../services.ts';

export interface ErasedPerson {
  readonly accounts: number;
  readonly invitations: number;
  readonly actions: number;
  readonly user: 'removed' | 'none';
}

const erasedAddress = '(erased)';

/** @param email as normalEmail() gives it @throws OperatorError when the person is the last owner of an account */
export async function erasePerson(email: string, services: OperatorServices): Promise<ErasedPerson> {
  const { table, people } = services;
  const scopes: PeopleScope[] = ['SERVICE'];
  for await (const id of accountsOf(services, undefined)) scopes.push(id);
  const memberships: { readonly scope: PeopleScope; readonly person: PersonId }[] = [];
  for (const scope of scopes) {
    const members = scope === 'SERVICE' ? await people.listOperators() : await people.listMembers(scope);
    const owners = members.filter((one) => 'role' in one && one.role === 'owner');
    const own = members.find((one) => one.email === email);
    if (!own) continue;
    if (owners.length === 1 && owners[0] === own)
      throw new OperatorError(
        `${email} is the last owner of the account ${scope}: make somebody else an owner, or erase the account.`,
      );
    memberships.push({ scope, person: own.personId });
  }
  // First, because a repetition finds the person by the memberships.
  for (const { person } of memberships) await deleteItem(table, portalKeys.person(person));
  for (const { scope, person } of memberships)
    if (scope === 'SERVICE') await deleteItem(table, portalKeys.member(scope, person));
    else await leaveAccount(scope, person, services);
  let [invitations, actions] = [0, 0];
  for (const scope of scopes) {
    if (await withoutInvitation(scope, invitationIdOf(email), table)) invitations += 1;
    for await (const row of rowsThatName(email, scope, table)) {
      await forgetAddress(row, email, table);
      if (row.sk.startsWith('ACTION#')) actions += 1;
    }
  }
  return { accounts: memberships.length, invitations, actions, user: await services.removeUser(email) };
}

/** Takes a person out of an account, also its last owner. Somebody without another account is erased. */
export async function leaveAccount(
  account: AccountId,
  person: PersonId,
  { table, removeUser, removeTopic }: Pick<OperatorServices, 'table' | 'removeUser' | 'removeTopic'>,
): Promise<void> {
  const item = await getItem(table, portalKeys.person(person));
  const known = item && personFromItem(item);
  const isOperator = await getItem(table, portalKeys.member('SERVICE', person));
  if (known && !isOperator && known.accounts.every((one) => one === account)) {
    await removeUser(known.email);
    await deleteItem(table, portalKeys.person(person));
  } else if (known)
    await updateItem(table, portalKeys.person(person), {
      UpdateExpression: 'DELETE accounts :accounts',
      ExpressionAttributeValues: { ':accounts': new Set([account]) },
    });
  const place = portalKeys.member(account, person);
  const member = await getItem(table, place);
  // Before the item, so that a repetition finds the topic.
  if (member?.['mail'] !== undefined) await removeTopic(topicOf(account, person));
  if (member?.['role'] !== 'owner') return deleteItem(table, place);
  // In one step with the count of owners: a repetition must not count the same owner again.
  const outcome = await inOneStep(table, [
    (name) => ({
      Delete: {
        TableName: name,
        Key: place,
        ConditionExpression: '#role = :owner',
        ExpressionAttributeNames: { '#role': 'role' },
        ExpressionAttributeValues: { ':owner': 'owner' },
      },
    }),
    toUpdate(portalKeys.people(account), {
      UpdateExpression: 'ADD owners :less',
      ExpressionAttributeValues: { ':less': -1 },
    }),
  ]);
  if (outcome !== 'done')
    throw new OperatorError('The role of the person was changed at this moment: run the command again.');
}

/** False when there is no such invitation. */
export async function withoutInvitation(scope: PeopleScope, id: string, table: Table): Promise<boolean> {
  const itemKeys = [portalKeys.invited(scope, id), portalKeys.invitation(scope, id)];
  const found = await Promise.all(itemKeys.map((key) => getItem(table, key)));
  for (const key of itemKeys) await deleteItem(table, key);
  return found.some((item) => item !== undefined);
}

interface NamingRow extends ItemKey {
  readonly fields: readonly string[];
}

const fieldsOfAddress = ['email', 'invitedBy', 'note'] as const;

/** The actions of the person, and what others did about the address. */
async function* rowsThatName(email: string, scope: PeopleScope, table: Table): AsyncGenerator<NamingRow> {
  for (const beginning of ['ACTION#', 'INVITATION#']) {
    const query = {
      KeyConditionExpression: 'pk = :pk AND begins_with(sk, :beginning)',
      ExpressionAttributeValues: { ':pk': partitionOf(scope), ':beginning': beginning },
    };
    for await (const { Items } of queryPages(table, query))
      for (const item of Items ?? []) {
        const fields = fieldsOfAddress.filter((name) => textIn(item, name).includes(email));
        if (fields.length > 0) yield { pk: String(item['pk']), sk: String(item['sk']), fields };
      }
  }
}

async function forgetAddress({ pk, sk, fields }: NamingRow, email: string, table: Table): Promise<void> {
  const itemKeys: ItemKey[] = [{ pk, sk }];
  const invited = sk.startsWith('INVITATION#') ? sk.slice('INVITATION#'.length) : undefined;
  if (invited !== undefined)
    itemKeys.push(
      portalKeys.invited(
        pk === keys.service().pk ? 'SERVICE' : (pk.slice('ACCOUNT#'.length) as AccountId),
        invited,
      ),
    );
  for (const key of itemKeys) {
    const item = await getItem(table, key);
    if (item)
      await updateItem(table, key, {
        UpdateExpression: `SET ${fields.map((name) => `#${name} = :${name}`).join(', ')}`,
        ExpressionAttributeNames: Object.fromEntries(fields.map((name) => [`#${name}`, name])),
        ExpressionAttributeValues: Object.fromEntries(
          fields.map((name): [string, unknown] => [
            `:${name}`,
            textIn(item, name).replaceAll(email, erasedAddress),
          ]),
        ),
      });
  }
}

function textIn(item: Item, name: string): string {
  const text = item[name];
  return typeof text === 'string' ? text : '';
}
