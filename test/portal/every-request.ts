/** A good request to every operation of the portal, on an account of its own. */
import { expect } from 'vitest';
import { alertsVersion, budgetVersion } from '../../service/accounts/version.ts';
import {
  type PortalOperation,
  type PortalOperationName,
  portalOperations,
  roles,
} from '../../service/contract/operations.ts';
import { memberVersion } from '../../service/portal/people.ts';
import { fillAccount, type FilledAccount } from './filled-account.ts';
import {
  type Answered,
  type Asked,
  openWholePortal,
  type SignedIn,
  type WholePortal,
} from './whole-portal.ts';

interface Row {
  /** What a good request names, with the things of this account. */
  readonly ask?: (account: FilledAccount) => Omit<Asked, 'as'>;
  /** What the good request is answered. */
  readonly status: number;
  /** For an operation that names something by its id: the same request with this id instead. */
  readonly naming?: (id: string, account: FilledAccount) => Omit<Asked, 'as'>;
  /** The id of the thing in this account, for `naming`. */
  readonly named?: (account: FilledAccount) => string;
  /** What a request with an absent id is answered. The default is 404. */
  readonly absent?: number;
}

const prompt = { model: 'sandbox-sketch', prompt: 'a lake' };
const withUpload = (id: string): object => ({
  model: 'sandbox-standard',
  prompt: 'a lake',
  image_urls: [`upload:${id}`],
});
/** An operation whose path ends with the id of one thing. */
const onPath = (
  named: (account: FilledAccount) => string,
  status: number,
  body?: (a: FilledAccount) => object,
): Row => ({
  ask: (account) => ({ id: named(account), ...(body && { body: body(account) }) }),
  status,
  named,
  naming: (id, account) => ({ id, ...(body && { body: body(account) }) }),
});

const viewer = { role: 'viewer' } as const;

/** Complete by its type: an operation without a row does not compile. */
export const rows: Readonly<Record<PortalOperationName, Row>> = {
  getMe: { status: 200 },
  switchAccount: {
    ask: ({ id }) => ({ body: { account: id } }),
    status: 200,
    named: ({ id }) => id,
    naming: (account) => ({ body: { account } }),
  },
  getHome: { status: 200 },
  getAccount: { status: 200 },
  listKeys: { status: 200 },
  showKey: onPath(({ key }) => key, 200),
  createKey: { ask: () => ({ body: { name: 'another' } }), status: 201 },
  changeKey: onPath(
    ({ key }) => key,
    200,
    ({ keyVersion }) => ({ name: 'renamed', version: keyVersion }),
  ),
  revokeKey: onPath(({ key }) => key, 200),
  rollKey: onPath(
    ({ key }) => key,
    201,
    () => ({ old_key_ends_in: '1h' }),
  ),
  listPortalModels: { status: 200 },
  listPortalCreations: { status: 200 },
  getPortalCreation: onPath(({ creation }) => creation, 200),
  createCreation: {
    ask: () => ({ body: prompt }),
    status: 202,
    named: ({ upload }) => upload,
    naming: (id) => ({ body: withUpload(id) }),
    absent: 400,
  },
  quoteCreation: {
    ask: () => ({ body: prompt }),
    status: 200,
    named: ({ upload }) => upload,
    naming: (id) => ({ body: withUpload(id) }),
    absent: 400,
  },
  createPortalUpload: { ask: () => ({ body: { content_type: 'image/png', bytes: 10 } }), status: 201 },
  cancelPortalCreation: onPath(({ open }) => open, 200),
  redeliverCreation: onPath(({ creation }) => creation, 202),
  getWebhooks: { status: 200 },
  revealSecret: { status: 200 },
  rotateSecret: { ask: () => ({ body: { sign_from: 'now' } }), status: 200 },
  listPortalEndpoints: { status: 200 },
  addEndpoint: {
    ask: () => ({ body: { url: 'https://receiver.test/hook', events: ['creation.completed'] } }),
    status: 201,
  },
  changePortalEndpoint: onPath(
    ({ endpoint }) => endpoint,
    200,
    () => ({ enabled: false }),
  ),
  removeEndpoint: onPath(({ endpoint }) => endpoint, 200),
  testWebhook: { ask: () => ({ body: { url: 'https://receiver.test/hook' } }), status: 200 },
  listPortalRequests: { status: 200 },
  listDeliveries: { status: 200 },
  getDelivery: onPath(({ delivery }) => delivery, 200),
  redeliverFailed: { ask: () => ({ body: { since: '2026-11-01T00:00:00Z' } }), status: 202 },
  listLedger: { status: 200 },
  exportLedger: { ask: () => ({ query: { month: '2026-11' } }), status: 200 },
  getStatement: { status: 200 },
  getUsage: { status: 200 },
  exportUsage: { status: 200 },
  getAlerts: { status: 200 },
  setAlerts: {
    ask: () => ({ body: { notice_url: null, low_balance: null, version: alertsVersion({}) } }),
    status: 200,
  },
  listPayments: { status: 200 },
  beginPayment: { ask: () => ({ body: { amount: 25, save_card: false } }), status: 201 },
  getPayment: onPath(({ payment }) => payment, 200),
  getReceipt: onPath(({ payment }) => payment, 303),
  getAutoTopUp: { status: 200 },
  setAutoTopUp: {
    ask: () => ({ body: { is_on: true, threshold: 10, amount: 20, monthly_cap: 100, version: 1 } }),
    status: 200,
  },
  resumeAutoTopUp: { status: 200 },
  removeCard: { status: 200 },
  getEmails: { status: 200 },
  setEmails: { ask: () => ({ body: { notices: ['wallet.low'] } }), status: 200 },
  setBudget: { ask: () => ({ body: { monthly_budget: 50, version: budgetVersion({}) } }), status: 200 },
  listPeople: { status: 200 },
  invitePerson: { ask: () => ({ body: { email: 'new@person.test', role: 'viewer' } }), status: 201 },
  changePerson: onPath(
    ({ member }) => member.personId,
    200,
    () => ({ role: 'developer', version: memberVersion(viewer) }),
  ),
  removePerson: onPath(({ member }) => member.personId, 200),
  endSessions: onPath(({ member }) => member.personId, 200),
  withdrawInvitation: onPath(({ invitation }) => invitation, 200),
  listActions: { status: 200 },
  listAccounts: { status: 200 },
  openAccount: { ask: () => ({ body: { name: 'another', balance: 5 } }), status: 201 },
  showAccount: onOwnAccount(200),
  changeAccount: onOwnAccount(200, { name: 'renamed' }),
  topUpAccount: onOwnAccount(200, { amount: 1, reference: 'invoice 1' }),
  inviteToAccount: onOwnAccount(201, { email: 'new@person.test', role: 'owner' }),
  findAnything: { ask: () => ({ query: { q: 'studio' } }), status: 200 },
  getService: { status: 200 },
  listAccountCreations: onOwnAccount(200),
  listAccountLedger: onOwnAccount(200),
  listAccountKeys: onOwnAccount(200),
  listAccountPeople: onOwnAccount(200),
  listAccountDeliveries: onOwnAccount(200),
  listAccountRequests: onOwnAccount(200),
  showOperatedCreation: { ask: ({ creation }) => ({ id: creation }), status: 200 },
  listFailingWebhooks: { status: 200 },
  listProviders: { status: 200 },
  pauseRoute: { ask: () => ({ body: { provider: 'fal', paused: true } }), status: 200 },
  listHeldPayments: { status: 200 },
  listAccountPayments: onOwnAccount(200),
  listOperatorKeys: { status: 200 },
  getMargin: { status: 200 },
};

/** The operator may name every account. */
function onOwnAccount(status: number, body?: object): Row {
  return { ask: ({ id }) => ({ id, ...(body && { body }) }), status };
}

export const names = Object.keys(portalOperations) as PortalOperationName[];
export const operationOf = (name: PortalOperationName): PortalOperation => portalOperations[name];

export interface Stage {
  readonly portal: WholePortal;
  readonly account: FilledAccount;
}

export async function openStage(name: PortalOperationName, portal = openWholePortal()): Promise<Stage> {
  const account = await fillAccount(portal, 'studio', operationOf(name).function === 'pay');
  return { portal, account };
}

/** What the account must have before the good request. */
export async function prepare(name: PortalOperationName, { portal, account }: Stage): Promise<void> {
  const needsSecret = name === 'rotateSecret' || name === 'testWebhook';
  if (needsSecret) expect((await portal.ask('revealSecret', { as: account.owner })).status).toBe(200);
}

export const good = (
  name: PortalOperationName,
  { portal, account }: Stage,
  as?: SignedIn,
): Promise<Answered> => portal.ask(name, { ...rows[name].ask?.(account), ...(as && { as }) });

/** Who signs in for the role. Neither an operator nor a stranger is a member. */
export function signIn({ portal, account }: Stage, role: string, ageMillis = 1_000): Promise<SignedIn> {
  const known = roles.find((one) => one === role);
  const email = `${role}-${ageMillis}@person.test`;
  if (known) return portal.signIn(email, account.id, known, { ageMillis });
  return portal.signIn(email, undefined, 'operator', { ageMillis });
}

const uuid = '019aa5a0-1000-7000-8000-0000000000ff';

/** Ids of the right form, of which nothing exists. */
export const absentIds: Partial<FilledAccount> = {
  id: 'Absent0001' as FilledAccount['id'],
  key: 'Absent',
  creation: uuid,
  open: uuid,
  delivery: uuid,
  invitation: 'a'.repeat(43),
  upload: uuid,
  endpoint: 'we_Absent00000000',
  payment: `pay_studio0000_${uuid}`,
  member: { email: '', cookie: '', personId: 'b'.repeat(43) as SignedIn['personId'] },
};
