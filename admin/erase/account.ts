/**
 * `accounts erase`: everything of an account goes but its books. Each step may be repeated, so a command that was cut
 * off is run again and goes on. The account is disabled first. A function that was running then may still write for
 * a quarter of an hour, so only a run after that time is the last one.
 */
import {
  type Item,
  type ItemKey,
  keys,
  refusalPartition,
  type Table,
} from '../../service/aws/dynamodb/table.ts';
import { transact, type TransactItem } from '../../service/aws/dynamodb/transaction.ts';
import { Overloaded } from '../../service/values/errors.ts';
import { deleteItem, getItem, updateItem } from '../../service/aws/dynamodb/send.ts';
import { queryPages } from '../../service/aws/dynamodb/query.ts';
import { eraseCreation } from '../../service/creations/erase.ts';
import { externalKey } from '../../service/operator/account-edit-store.ts';
import type { CreationId, AccountId, NoticeId, PersonId } from '../../service/values/ids.ts';
import type { Account } from '../../service/accounts/account.ts';
import type { OperatorServices } from '../services.ts';
import { leaveAccount, withoutInvitation } from './person.ts';

export type AccountErasure = Pick<
  OperatorServices,
  'table' | 'clock' | 'creations' | 'erasure' | 'removeUser' | 'removeTopic'
> & {
  /** Has Stripe forget the saved card. Absent: the service takes no payments. */
  readonly forgetCard?: ((account: AccountId) => Promise<void>) | undefined;
};

export interface ErasedAccount {
  readonly creations: number;
  readonly open: number;
  readonly uploads: number;
  readonly people: number;
  readonly rows: number;
  /** RFC 3339. Before it, a function may still write something. */
  readonly againAfter: string | null;
}

/** The name of an erased account. */
const erasedName = '(erased)';
/** No function that began before the account was disabled runs for longer. */
const lastWriteMillis = 16 * 60_000;
const creationsAtOnce = 40;

export async function eraseAccount(
  { id }: Pick<Account, 'id'>,
  services: AccountErasure,
  tell: (line: string) => void,
): Promise<ErasedAccount> {
  const { table, clock } = services;
  const disabledAt = await disable(id, services);
  const { creations, open } = await eraseCreations(id, services, tell);
  // The list of creations may lag, and the account does not.
  const hasOpen = open > 0 || Number((await getItem(table, keys.account(id), 'inFlight'))?.['inFlight']) > 0;
  const counts = { uploads: 0, people: 0, rows: 0 };
  for await (const item of itemsOf(id, services)) {
    const sk = String(item['sk']);
    if (sk.startsWith('MEMBER#')) {
      await leaveAccount(id, sk.slice('MEMBER#'.length) as PersonId, services);
      counts.people += 1;
    } else if (sk.startsWith('INVITATION#'))
      await withoutInvitation(id, sk.slice('INVITATION#'.length), table);
    else if (sk.startsWith('UPLOAD#')) {
      await services.erasure.images.remove([String(item['key'])]);
      counts.uploads += 1;
    } else if (sk === 'AUTO_TOP_UP') await services.forgetCard?.(id);
    // Its refund would count for the user.
    if (hasOpen && /^(LEDGER|USER|USER_TOKEN)#/.test(sk)) continue;
    if (await eraseRow(item, services)) counts.rows += 1;
  }
  if (!hasOpen) while (!(await eraseNames(id, table)));
  const lastAt = disabledAt + lastWriteMillis;
  const isLast = !hasOpen && clock.now() >= lastAt;
  return { creations, open, ...counts, againAfter: isLast ? null : new Date(lastAt).toISOString() };
}

/**
 * The account and the item of its external id change in one transaction. Otherwise another account could take
 * the id, and a later run would delete the item of this account. False when a back end changed the id
 * meanwhile.
 */
async function eraseNames(id: AccountId, table: Table): Promise<boolean> {
  const { externalId } = (await getItem(table, keys.account(id))) ?? {};
  const place = typeof externalId === 'string' ? externalKey(externalId) : undefined;
  const isOwn = place !== undefined && (await getItem(table, place))?.['account'] === id;
  const TableName = table.name;
  const Update = {
    TableName,
    Key: keys.account(id),
    UpdateExpression:
      'SET #name = :name, webhookSecrets = :none REMOVE noticeUrl, lowBalanceMicros, externalId, creationEndpoints, noticeEndpoints, copies, mailChoices, hasAutoTopUp',
    ConditionExpression: place ? 'externalId = :read' : 'attribute_not_exists(externalId)',
    ExpressionAttributeNames: { '#name': 'name' },
    ExpressionAttributeValues: { ':name': erasedName, ':none': [], ...(place && { ':read': externalId }) },
  };
  const deletion: TransactItem[] = isOwn ? [{ Delete: { TableName, Key: place } }] : [];
  const outcome = await transact(table, [{ Update }, ...deletion]);
  if (outcome.kind === 'overloaded') throw new Overloaded('the account stayed busy');
  return outcome.kind === 'done';
}

/** Returns the time of the first run. From then on nothing new begins, and no notice is made. */
async function disable(id: AccountId, { table, clock }: AccountErasure): Promise<number> {
  const { Attributes } = await updateItem(table, keys.account(id), {
    UpdateExpression:
      'SET #condition = :disabled, erasedAt = if_not_exists(erasedAt, :now) REMOVE noticeUrl, lowBalanceMicros, noticeEndpoints, copies, mailChoices',
    ConditionExpression: 'attribute_exists(pk)',
    ExpressionAttributeNames: { '#condition': 'condition' },
    ExpressionAttributeValues: { ':disabled': 'disabled', ':now': clock.now() },
    ReturnValues: 'UPDATED_NEW',
  });
  return Number(Attributes?.['erasedAt']);
}

async function eraseCreations(
  account: AccountId,
  { creations, erasure }: AccountErasure,
  tell: (line: string) => void,
): Promise<{ readonly creations: number; readonly open: number }> {
  let [erased, open, before] = [0, 0, undefined as CreationId | undefined];
  for (;;) {
    const page = await creations.list(account, creationsAtOnce, before);
    if (page.length === 0) return { creations: erased, open };
    for (const creation of page) {
      const { kind } = await eraseCreation(creation, 'operator', erasure);
      if (kind === 'open') open += 1;
      else erased += 1;
    }
    before = page.at(-1)?.id;
    tell(`${erased} creations erased`);
  }
}

async function* itemsOf(id: AccountId, { table }: AccountErasure): AsyncGenerator<Item> {
  for (const pk of [keys.account(id).pk, refusalPartition(id)]) {
    const query = { KeyConditionExpression: 'pk = :pk', ExpressionAttributeValues: { ':pk': pk } };
    for await (const { Items } of queryPages(table, query)) yield* Items ?? [];
  }
}

/** The rows that the books need, and hashes that expire within a day. Texts of the client leave them. */
const kept: readonly (readonly [beginning: string, text: string | undefined])[] = [
  ['ACCOUNT', undefined],
  ['ADDED_KEYS', undefined],
  ['KEY#', 'name'],
  ['LEDGER#', 'user'],
  ['PAYMENT#', 'note'],
  ['REFERENCE#', undefined],
  ['HELD#', undefined],
  ['IDEMPOTENCY#', undefined],
  ['RATE#', undefined],
  ['RETRY#', undefined],
];

/** Deletes every row that the books do not need. False: it is kept as it is. */
async function eraseRow(item: Item, { table }: AccountErasure): Promise<boolean> {
  const key: ItemKey = { pk: String(item['pk']), sk: String(item['sk']) };
  const row = kept.find(([beginning]) => key.sk.startsWith(beginning));
  if (!row) {
    for (const notice of noticesIn(item)) await deleteItem(table, keys.notice(notice));
    await deleteItem(table, key);
    return true;
  }
  const [beginning, text] = row;
  if (text === undefined || item[text] === undefined || item[text] === erasedName) return false;
  await updateItem(table, key, {
    // A key has a name wherever it is shown.
    UpdateExpression: beginning === 'KEY#' ? 'SET #text = :erased' : 'REMOVE #text',
    ExpressionAttributeNames: { '#text': text },
    ...(beginning === 'KEY#' && { ExpressionAttributeValues: { ':erased': erasedName } }),
  });
  return true;
}

/** The notices that a row of the delivery log or of the events names. */
function noticesIn({ noticeId, of, entries }: Item): NoticeId[] {
  const inPage = (Array.isArray(entries) ? entries : []) as readonly { readonly of: unknown }[];
  return [noticeId, of, ...inPage.map((entry) => entry.of)].filter(
    (id): id is NoticeId => typeof id === 'string' && id.startsWith('ntc_'),
  );
}
