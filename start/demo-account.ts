/** The demo account of a local service, with which the first request needs no preparation. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { createAccount } from '../admin/commands/accounts.ts';
import { issueKey } from '../admin/commands/keys.ts';
import { issueSecret } from '../admin/commands/webhooks.ts';
import type { OperatorServices } from '../admin/services.ts';
import { createPeopleStore } from '../service/portal/people-store.ts';
import { type Invitation, newInvitation, type PeopleScope, personIdOf } from '../service/portal/people.ts';
import { type AccountId, parseAccountId, parseKeyId } from '../service/values/ids.ts';
import { inLanes } from '../service/values/lanes.ts';

export interface DemoAccount {
  readonly accountId: AccountId;
  /** The key is new at every start, and the key of the last start is revoked. */
  readonly key: string;
}

/** The content of demo.json in the folder of the service. */
const rememberedSchema = z.object({ account: z.string().optional(), key: z.string().optional() });

const openingBalanceUsd = '25';

/** Gives the demo account a new key, and creates it with 25 USD and a webhook secret at the first start. */
export async function demoAccount(folder: string, services: OperatorServices): Promise<DemoAccount> {
  const file = join(folder, 'demo.json');
  const before = rememberedSchema.parse(JSON.parse(await readFile(file, 'utf8').catch(() => '{}')));
  const known = parseAccountId(before.account ?? '');
  const account =
    (known && (await services.accounts.read(known))) ??
    (await createAccount(services, { name: 'demo', balance: openingBalanceUsd, sandbox: 'yes' }));
  // An earlier release did not mark its demo account.
  if (account.sandbox !== true) await services.accounts.change(account.id, { sandbox: true });
  if (account.webhookSecrets.length === 0) await issueSecret(services, account);
  const last = parseKeyId(before.key ?? '');
  if (last) await services.accounts.revokeKey(account.id, last, new Date(services.clock.now()).toISOString());
  const { record, key } = await issueKey(services, account, { name: 'demo' });
  await writeFile(file, `${JSON.stringify({ account: account.id, key: record.id })}\n`, { mode: 0o600 });
  return { accountId: account.id, key };
}

// The person of the demo account, with whom the first sign-in to the portal needs no preparation.

/** The owner of the demo account, and a person of the operator. */
export const demoEmail = 'owner@demo.test';

/** Invites the demo person to the account and to the operator, at the first start. */
export async function inviteDemoPerson(
  account: AccountId,
  issuer: string,
  { table, clock }: OperatorServices,
): Promise<void> {
  const people = createPeopleStore(table);
  const person = personIdOf(issuer, demoEmail);
  const [members, operators] = await Promise.all([people.listMembers(account), people.listOperators()]);
  const invitation = (accountId: PeopleScope, role: Invitation['role']): Invitation =>
    newInvitation({ accountId, email: demoEmail, role, invitedBy: 'operator' }, clock.now());
  const isIn = (known: readonly { readonly personId: string }[]): boolean =>
    known.some(({ personId }) => personId === person);
  await Promise.all([
    ...(isIn(members) ? [] : [people.invite(invitation(account, 'owner'))]),
    ...(isIn(operators) ? [] : [people.invite(invitation('SERVICE', 'operator'))]),
  ]);
}

const lanes = 16;

/** The addresses of all members, people of the operator and open invitations, each once. The demo person is first. */
export async function knownAddresses({ table, accounts }: OperatorServices): Promise<readonly string[]> {
  const people = createPeopleStore(table);
  const addresses: string[] = [];
  const add = async (list: Promise<readonly { readonly email: string }[]>): Promise<void> =>
    void addresses.push(...(await list).map(({ email }) => email));
  await add(people.listOperators());
  await add(people.listInvitations('SERVICE'));
  // A thousand reads at once would wait for each other until the first of them gives up.
  await inLanes(lanes, await accounts.list(), async ({ id }) => {
    await add(people.listMembers(id));
    await add(people.listInvitations(id));
  });
  return [...new Set([demoEmail, ...addresses.sort()])];
}
