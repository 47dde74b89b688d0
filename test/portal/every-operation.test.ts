/** Every operation of the portal's contract, with every role, from every origin and between two accounts. */
import { beforeAll, describe, expect, it } from 'vitest';
import { type PortalOperationName } from '../../service/contract/operations.ts';
import { freshMillis, idleMillis, mayAct } from '../../service/portal/people.ts';
import { absentIds, good, names, openStage, operationOf, prepare, rows, signIn } from './every-request.ts';
import { fillAccount, type FilledAccount } from './filled-account.ts';
import { openWholePortal, type WholePortal } from './whole-portal.ts';

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
