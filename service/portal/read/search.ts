/**
 * The search of the operator. What has a key in the table is found by one read: an id, the beginning of a
 * key, the operator's own name of an account, an address. Names of accounts have no index, so only the names
 * of the oldest accounts are compared, and the answer says when there are more. Nothing scans the table.
 */
import type { Account } from '../../accounts/account.ts';
import { placeOfRequest } from '../../api/request-id.ts';
import { isPlayground } from '../../accounts/key-changes.ts';
import type { FoundThing, FoundView } from '../../contract/portal-views.ts';
import { parametersOf } from '../../operated/parameters.ts';
import {
  type AccountId,
  parseAccountId,
  parseCreationId,
  parseKeyId,
  parseNoticeId,
} from '../../values/ids.ts';
import { invitationIdOf, isAddress, normalEmail } from '../people.ts';
import { isOfStripe } from '../../payments/payment.ts';
import type { ReadHandle, ReadServices } from './open.ts';

const mostText = 200;
/** The oldest accounts, of which names are compared. */
const mostAccounts = 500;
const mostFound = 20;

/** GET /operator/search; ?q is an id, the beginning of a key, a name or an address. */
export const findAnything: ReadHandle<'findAnything'> = async (request, _caller, services) => {
  const parameters = parametersOf(request);
  const text = parameters.read('q', textIn, `1 to ${mostText} characters`) ?? '';
  parameters.check();
  const exact = await Promise.all([
    creationOf(text, services),
    accountOf(text, services),
    keyOf(text, services),
    noticeOf(text, services),
    namedOutside(text, services),
    paymentOf(text, services),
    requestOf(text, services),
  ]);
  const found = exact.flat();
  // A whole id names one thing, so the names of accounts are not searched.
  const more = found.length > 0 ? noMore : await searchNames(text, services);
  const body: FoundView = { data: [...found, ...more.found].slice(0, mostFound), has_all: more.hasAll };
  return { status: 200, body };
};

function textIn(text: string): string | undefined {
  const trimmed = text.trim();
  return trimmed === '' || trimmed.length > mostText ? undefined : trimmed;
}

interface Searched {
  readonly found: readonly FoundThing[];
  readonly hasAll: boolean;
}

const noMore: Searched = { found: [], hasAll: true };

function thing(kind: FoundThing['kind'], id: string, name: string, account: Account | undefined): FoundThing {
  return { kind, id, name, account: account?.id ?? null, account_name: account?.name ?? null };
}

async function accountAt(id: AccountId, { operated }: ReadServices): Promise<Account | undefined> {
  return (await operated.accountsOf([id]))[0];
}

async function creationOf(text: string, services: ReadServices): Promise<FoundThing[]> {
  const id = parseCreationId(text);
  const creation = id && (await services.creations.read(id));
  if (!creation) return [];
  const name = `${creation.model}, ${creation.status}`;
  return [thing('creation', creation.id, name, await accountAt(creation.accountId, services))];
}

async function accountOf(text: string, services: ReadServices): Promise<FoundThing[]> {
  const id = parseAccountId(text);
  const account = id && (await accountAt(id, services));
  return account ? [thing('account', account.id, account.name, account)] : [];
}

/** A key or a token of an end user names its account and its key in its first 24 characters. */
async function keyOf(text: string, services: ReadServices): Promise<FoundThing[]> {
  const [, accountText = '', keyText = ''] = /^dk_(?:live|user)_(\w{10})(\w{6})?/.exec(text) ?? [];
  const [accountId, keyId] = [parseAccountId(accountText), parseKeyId(keyText)];
  const account = accountId && (await accountAt(accountId, services));
  if (!account) return [];
  const keys = await services.reads.keys(account.id);
  return keys
    .filter((key) => !isPlayground(key) && (keyText === '' || key.id === keyId))
    .map((key) => thing('key', key.id, key.name, account));
}

async function noticeOf(text: string, services: ReadServices): Promise<FoundThing[]> {
  const id = parseNoticeId(text);
  const [notice] = id ? await services.notices.readAll([id]) : [];
  if (!notice || id === undefined) return [];
  return [thing('notice', id, notice.webhook.status, await accountAt(notice.accountId, services))];
}

async function namedOutside(text: string, services: ReadServices): Promise<FoundThing[]> {
  const id = await services.operated.namedOutside(text);
  const account = id && (await accountAt(id, services));
  return account ? [thing('account', account.id, account.name, account)] : [];
}

/** A payment names its account in its id. */
async function paymentOf(text: string, services: ReadServices): Promise<FoundThing[]> {
  const payment = await services.payments.read(text);
  if (!payment) return [];
  const name = isOfStripe(payment) ? `${payment.kind}, ${payment.state}` : payment.reference;
  return [thing('payment', text, name, await accountAt(payment.accountId, services))];
}

async function requestOf(text: string, services: ReadServices): Promise<FoundThing[]> {
  const place = placeOfRequest(text);
  if (!place) return [];
  const { accountId, atMillis } = place;
  const creation = await services.requestLog.creation(text, accountId, atMillis);
  if (creation) return creationOf(creation, services);
  const refused = await services.requestLog.refusal(text, accountId, atMillis);
  if (!refused) return [];
  return [thing('request', text, `${refused.status} ${refused.code}`, await accountAt(accountId, services))];
}

async function searchNames(text: string, services: ReadServices): Promise<Searched> {
  if (isAddress(text)) return { found: await peopleWith(normalEmail(text), services), hasAll: true };
  const { accounts, after } = await services.operated.accounts(mostAccounts);
  const wanted = text.toLowerCase();
  const named = accounts.filter(({ name }) => name.toLowerCase().includes(wanted));
  return {
    found: named.map((account) => thing('account', account.id, account.name, account)),
    hasAll: after === undefined,
  };
}

async function peopleWith(
  email: string,
  { people, peopleByEmail, operated }: ReadServices,
): Promise<FoundThing[]> {
  const [invitations, members] = await Promise.all([
    people.invitationsTo(invitationIdOf(email)),
    peopleByEmail(email),
  ]);
  const invitedTo = invitations.flatMap(({ accountId }) => (accountId === 'SERVICE' ? [] : [accountId]));
  const accounts = await operated.accountsOf([...invitedTo, ...members.flatMap((one) => one.accounts)]);
  const at = (id: AccountId): Account | undefined => accounts.find((account) => account.id === id);
  return [
    ...invitedTo.map((id) => thing('invitation', email, email, at(id))),
    ...members.flatMap((person) => person.accounts.map((id) => thing('person', person.id, email, at(id)))),
  ];
}
