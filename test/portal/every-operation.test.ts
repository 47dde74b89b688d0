/**
 * Every operation of the portal's contract, with every role, from every origin and between two accounts. The rows
 * are complete by their type: an operation without a row does not compile.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { alertsVersion, budgetVersion } from '../../service/accounts/version.ts';
import {
  type PortalOperation,
  type PortalOperationName,
  portalOperations,
  roles,
} from '../../service/contract/operations.ts';
import { freshMillis, idleMillis, mayAct, memberVersion } from '../../service/portal/people.ts';
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
const uuid = '019aa5a0-1000-7000-8000-0000000000ff';

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

const rows: Readonly<Record<PortalOperationName, Row>> = {
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

const names = Object.keys(portalOperations) as PortalOperationName[];
const operationOf = (name: PortalOperationName): PortalOperation => portalOperations[name];

interface Stage {
  readonly portal: WholePortal;
  readonly account: FilledAccount;
}

async function openStage(name: PortalOperationName): Promise<Stage> {
  const portal = openWholePortal();
  const account = await fillAccount(portal, 'studio', operationOf(name).function === 'pay');
  return { portal, account };
}

/** What the account must have before the good request. */
async function prepare(name: PortalOperationName, { portal, account }: Stage): Promise<void> {
  const needsSecret = name === 'rotateSecret' || name === 'testWebhook';
  if (needsSecret) expect((await portal.ask('revealSecret', { as: account.owner })).status).toBe(200);
}

const good = (name: PortalOperationName, { portal, account }: Stage, as?: SignedIn): Promise<Answered> =>
  portal.ask(name, { ...rows[name].ask?.(account), ...(as && { as }) });

/** Who signs in for the role. Neither an operator nor a stranger is a member. */
function signIn({ portal, account }: Stage, role: string, ageMillis = 1_000): Promise<SignedIn> {
  const known = roles.find((one) => one === role);
  const email = `${role}-${ageMillis}@person.test`;
  if (known) return portal.signIn(email, account.id, known, { ageMillis });
  return portal.signIn(email, undefined, 'operator', { ageMillis });
}

describe('every operation with every role', () => {
  it('A viewer changes nothing, and people are the business of owners', () => {
    const of = (role: string, isRead: boolean): string[] =>
      names.filter(
        (name) => operationOf(name).role === role && (operationOf(name).method === 'GET') === isRead,
      );
    expect(of('person', false)).toEqual(['switchAccount']);
    // The own e-mails, and nothing of the account.
    expect(of('viewer', false)).toEqual(['setEmails']);
    expect(of('owner', true)).toEqual(['listPeople', 'listActions']);
    expect(of('owner', false)).toEqual([
      'setBudget',
      'invitePerson',
      'changePerson',
      'removePerson',
      'endSessions',
      'withdrawInvitation',
      'beginPayment',
      'setAutoTopUp',
      'resumeAutoTopUp',
      'removeCard',
    ]);
    expect(names.filter((name) => operationOf(name).isForFinance === true)).toEqual([
      'setBudget',
      'getEmails',
      'setEmails',
      'listLedger',
      'exportLedger',
      'getStatement',
      'getUsage',
      'exportUsage',
      'getAlerts',
      'listPayments',
      'getPayment',
      'getReceipt',
      'getAutoTopUp',
    ]);
    const ofOperator = names.filter((name) => operationOf(name).path.startsWith('/operator/'));
    expect([...of('operator', true), ...of('operator', false)].sort()).toEqual(ofOperator.sort());
  });

  it.each(names)('%s answers who may call it, and refuses everybody else', async (name) => {
    const operation = operationOf(name);
    const who = ['finance', 'viewer', 'developer', 'owner', 'operator'] as const;
    const isAllowed = (role: (typeof who)[number]): boolean => {
      if (operation.role === 'person') return true;
      if (operation.role === 'operator' || role === 'operator') return operation.role === role;
      // The rule of the product must not say here what is right.
      if (role === 'finance') return operation.isForFinance === true;
      return mayAct(role, operation.role);
    };
    const refusing = await openStage(name);
    for (const role of who.filter((one) => !isAllowed(one))) {
      const answer = await good(name, refusing, await signIn(refusing, role));
      expect([role, answer.status, answer.body.error.details.reason]).toEqual([role, 403, 'role']);
    }
    const nobody = await good(name, refusing);
    expect([nobody.status, nobody.body.error.code]).toEqual([401, 'ERR_SESSION_REQUIRED']);
    for (const role of who.filter(isAllowed)) {
      // A request that only reads leaves everything as it is for the next one.
      const stage = operation.method === 'GET' ? refusing : await openStage(name);
      await prepare(name, stage);
      // Everybody may switch, but only to an account of which they are members.
      const status = name === 'switchAccount' && role === 'operator' ? 404 : rows[name].status;
      const caller = await signIn(stage, role);
      expect([role, (await good(name, stage, caller)).status]).toEqual([role, status]);
    }
  });

  it.each(names)('%s refuses a session that has ended, and one whose sign-in is too old', async (name) => {
    const stage = await openStage(name);
    await prepare(name, stage);
    const operation = operationOf(name);
    const role = operation.role === 'person' ? 'viewer' : operation.role;
    const old = await signIn(stage, role, freshMillis);
    const answer = await good(name, stage, old);
    if (operation.isFresh === true)
      expect([answer.status, answer.body.error.details.reason]).toEqual([403, 'reauthenticate']);
    else expect(answer.status).toBe(rows[name].status);
    const idle = await signIn(stage, role);
    stage.portal.clock.set(stage.portal.clock.now() + idleMillis);
    expect((await good(name, stage, idle)).body.error).toMatchObject({
      code: 'ERR_SESSION_REQUIRED',
      details: { reason: 'session_ended' },
    });
  });
});

describe('every operation that changes something', () => {
  it.each(names.filter((name) => operationOf(name).method !== 'GET'))(
    '%s refuses requests that do not come from the pages of the portal',
    async (name) => {
      const stage = await openStage(name);
      const { role } = operationOf(name);
      const as = await signIn(stage, role === 'operator' ? 'operator' : 'owner');
      const before = JSON.stringify([...stage.portal.memory.all()]);
      const origins: Readonly<Record<string, string>>[] = [
        { 'sec-fetch-site': 'cross-site' },
        { 'sec-fetch-site': 'same-site' },
        { 'sec-fetch-site': 'none' },
        { 'sec-fetch-site': 'cross-site', origin: 'https://portal.test' },
        { origin: 'https://portal.test.evil.test' },
        { origin: 'null' },
        {},
      ];
      for (const headers of origins) {
        const asked = { as, ...rows[name].ask?.(stage.account), headers: { ...noSite, ...headers } };
        const answer = await stage.portal.ask(name, asked);
        expect([answer.status, answer.body.error.details.reason]).toEqual([403, 'origin']);
      }
      expect(JSON.stringify([...stage.portal.memory.all()])).toBe(before);
    },
  );
});

/** The headers of the fixture without the one that says where the request comes from. */
const noSite = { 'sec-fetch-site': '' };

/** Parameters that an operation reads and refuses, because it shares its reader with an operation that takes them. */
const shared: Partial<Record<PortalOperationName, readonly string[]>> = {
  listPortalRequests: ['from', 'to'],
  listAccountRequests: ['from', 'to'],
  listAccountDeliveries: ['endpoint'],
};

it('Each operation reads the query parameters of its row, and no other', async () => {
  for (const name of names.filter((one) => operationOf(one).method === 'GET')) {
    const stage = await openStage(name);
    await prepare(name, stage);
    const asked = rows[name].ask?.(stage.account) ?? {};
    const read = new Set<string>();
    const query = new Proxy(asked.query ?? {}, {
      get: (given, parameter) => {
        if (parameter !== 'toJSON') read.add(String(parameter));
        return given[String(parameter)];
      },
    });
    const as = await signIn(stage, operationOf(name).role);
    await stage.portal.ask(name, { ...asked, query, as });
    const listed = [...operationOf(name).query, ...(shared[name] ?? [])];
    expect([name, [...read].sort()]).toEqual([name, listed.sort()]);
  }
});

describe('one account beside another', () => {
  let portal: WholePortal;
  let own: FilledAccount;
  let other: FilledAccount;
  beforeAll(async () => {
    portal = openWholePortal();
    own = await fillAccount(portal, 'studio');
    other = await fillAccount(portal, 'rival');
  });

  it.each(
    names.filter((name) => operationOf(name).method === 'GET' && operationOf(name).role !== 'operator'),
  )('%s shows nothing of another account', async (name) => {
    const answer = await good(name, { portal, account: own }, own.owner);
    expect(answer.status).toBe(rows[name].status);
    expect(answer.text).not.toContain('rival');
    for (const id of [other.key, other.creation, other.delivery, other.member.personId, other.payment])
      expect(answer.text).not.toContain(id);
  });

  const naming = names.filter((name) => rows[name].naming !== undefined);

  it.each(naming)('%s answers another account’s id byte for byte like an absent one', async (name) => {
    const { naming: ask, named, absent = 404 } = rows[name];
    if (!ask || !named) throw new Error('the row names nothing');
    const absentId = named({ ...other, ...absentIds });
    const [foreign, unknown] = await Promise.all(
      [named(other), absentId].map((id) => portal.ask(name, { as: own.owner, ...ask(id, own) })),
    );
    expect([foreign?.status, unknown?.status]).toEqual([absent, absent]);
    expect(foreign?.text).toBe(unknown?.text);
    expect(foreign?.headers).toEqual(unknown?.headers);
  });

  it('An operation with an id in its path says here what it names', () => {
    const isOfAccount = (name: PortalOperationName): boolean =>
      operationOf(name).path.includes('{id}') && operationOf(name).role !== 'operator';
    expect(names.filter(isOfAccount).filter((name) => !naming.includes(name))).toEqual([]);
  });
});

const absentIds: Partial<FilledAccount> = {
  id: 'Absent0001' as FilledAccount['id'],
  key: 'Absent',
  creation: uuid,
  open: uuid,
  delivery: uuid,
  invitation: 'a'.repeat(43),
  upload: uuid,
  member: { email: '', cookie: '', personId: 'b'.repeat(43) as SignedIn['personId'] },
};
