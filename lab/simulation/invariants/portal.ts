/**
 * The invariants of the portal: who gets an answer, what an answer says, what a refusal leaves behind, and the log of
 * actions. portal-edits.ts has those of edits.
 */
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { playgroundKeyId } from '../../../service/accounts/key-changes.ts';
import {
  type PortalOperation,
  type PortalOperationName,
  portalOperations,
  portalRoot,
  type Role,
} from '../../../service/contract/operations.ts';
import { idleMillis, invitationIdOf } from '../../../service/portal/people.ts';
import type { Change, SimulatedTable } from '../aws/simulated-table.ts';
import type { PersonHeld } from '../clients/open-accounts.ts';
import { bodyOf, detailsOf, memberOf } from '../clients/requests.ts';
import type { Invocation, World } from '../world/simulated-world.ts';
import { type Accuse, textOf } from './money-books.ts';
import { changesNothing, createPortalEditInvariants, kindOf, type PortalCall } from './portal-edits.ts';
import type { WebhookInvariants } from './webhooks.ts';

/** The kinds of rows that a refusal may leave. A refusal that sends a notice leaves the mark of its threshold. */
const harmless = new Set(['RATE', 'REJECTED', 'BLOCK', 'SESSION', 'TOLD', 'REFUSED']);
/** What a faulted call may have written, although its answer to the function said otherwise. */
const unsure = new Set([
  'lost',
  'all_lost',
  'lost_then_throttled',
  'lost_then_conflicts',
  'late',
  'late_answer',
  'hang',
]);
/** Who may do more has the higher rank. These ranks stand apart: the product's may have a planted bug. */
const ranks: Readonly<Record<Role | '', number>> = { '': 0, finance: 0, viewer: 1, developer: 2, owner: 3 };
const notLogged = (name: PortalOperationName): boolean => {
  const { method, isLogged }: PortalOperation = portalOperations[name];
  return method === 'GET' || isLogged === false;
};

export function createPortalInvariants(
  world: World,
  table: () => SimulatedTable | undefined,
  webhooks: WebhookInvariants,
  accuse: Accuse,
) {
  /** When each person signed in, by account and person. */
  const signedInAt = new Map<string, number>();
  const secrets = new Set<string>();
  const calls = new Map<string, PortalCall>();
  /** Whose removal or end of all sessions was answered, by account and person. */
  const ended = new Set<string>();
  /** When a commit last changed a member. */
  const memberChangedAt = new Map<string, number>();
  const mayBeOut = new Set<string>();
  const owners = new Map<string, Set<string>>();
  const edits = createPortalEditInvariants(world, table, webhooks, accuse);

  /** The commit that adds a member deletes the invitation, which was there until then. */
  function takesUpItsInvitation(member: Change['after'], changes: readonly Change[]): void {
    // The scenario writes the first members.
    if (world.current() === undefined) return;
    const id = invitationIdOf(textOf(member, 'email'));
    const [role, account] = ['role', 'accountId'].map((name) => textOf(member, name));
    const taken = changes.filter(({ pk, sk, before, after }) => {
      const isOfMember =
        `${pk} ${sk}` === `ACCOUNT#${account} INVITATION#${id}` ||
        `${pk} ${sk}` === `INVITED#${id} ${account}`;
      return isOfMember && textOf(before, 'role') === role && before && !after;
    });
    if (taken.length !== 2) accuse('an invitation binds once', `${account} ${textOf(member, 'personId')}`);
  }

  function followPeople(changes: readonly Change[]): void {
    const touched = new Set<string>();
    for (const { pk, sk, before, after } of changes) {
      if (!sk.startsWith('MEMBER#') && sk !== 'PEOPLE') continue;
      touched.add(pk);
      if (sk === 'PEOPLE') continue;
      if (!before) takesUpItsInvitation(after, changes);
      const own = `${pk} ${sk}`;
      memberChangedAt.set(own, world.time.now());
      const ends = after?.['sessionsEndedAt'] && !before?.['sessionsEndedAt'];
      if (!after || ends) mayBeOut.add(own);
      const all = owners.get(pk) ?? new Set<string>();
      if (textOf(after, 'role') === 'owner') all.add(sk);
      else all.delete(sk);
      owners.set(pk, all);
    }
    for (const pk of touched) {
      const counted = Number(table()?.get(pk, 'PEOPLE')?.['owners']?.N ?? 0);
      const real = owners.get(pk)?.size ?? 0;
      // The scenario writes the count before the members.
      if (world.current() === undefined) continue;
      const isErased = table()?.get(pk, 'ACCOUNT')?.['erasedAt'] !== undefined;
      if (real === 0 && !isErased) accuse('an account keeps an owner', pk);
      if (counted !== real) accuse('the count of owners is their number', `${pk}: ${counted} of ${real}`);
    }
  }

  function followRow(call: PortalCall, { sk, before, after }: Change): boolean {
    if (!sk.startsWith('ACTION#')) return false;
    if (!before && call.wrote.size > 0)
      accuse('an action is noted before it begins', `${call.id} ${call.name}`);
    call.row = {
      action: textOf(after, 'action'),
      person: textOf(after, 'personId'),
      outcome: textOf(after, 'outcome'),
    };
    return true;
  }

  function followWrite(call: PortalCall, change: Change): void {
    if (followRow(call, change) || changesNothing(change)) return;
    const kind = kindOf(change);
    const endsSession = kind === 'SESSION' && change.after?.['endedAt'] !== undefined;
    // The first use of the playground makes its key, whatever becomes of the request.
    const isFirstUse = change.sk === `KEY#${playgroundKeyId}` && !change.before;
    if (isFirstUse || (harmless.has(kind) && !endsSession)) return;
    call.wrote.add(kind);
    if (!call.row && !notLogged(call.name))
      accuse('an action is noted before it begins', `${call.id} ${call.name} wrote ${kind}`);
  }

  function isLetIn(call: PortalCall, status: number, reason: string, hasNoOperation: boolean): void {
    const own = `ACCOUNT#${call.account} MEMBER#${call.person}`;
    const isCertain = (memberChangedAt.get(own) ?? 0) < call.startedAt;
    if (call.isOver && ![401, 403, 429, 500, 503].includes(status))
      accuse('who was removed or signed out gets nothing', `${call.id} ${call.name} ${status}`);
    const may = ranks[call.roleAtFirst] >= ranks[portalOperations[call.name].role as Role];
    if (isCertain && !may && ![401, 403, 429, 500, 503].includes(status))
      accuse('a role allows what it names, and no more', `${call.roleAtFirst} ${call.name} ${status}`);
    if (isCertain && may && status === 403 && reason === 'role')
      accuse('a role allows what it names, and no more', `${call.roleAtFirst} ${call.name} ${status}`);
    if (status === 404 && hasNoOperation)
      accuse('the portal knows its operations', `${call.id} ${call.name}`);
    if (status === 403 && reason === 'origin')
      accuse('the portal knows its own distribution', `${call.id} ${call.name}`);
    const since = signedInAt.get(`${call.account} ${call.person}`) ?? 0;
    const mayBeIdle = world.time.now() - since > idleMillis - 200_000;
    if (status === 401 && !mayBeOut.has(own) && !mayBeIdle)
      accuse('a session that lives is let in', `${call.id} ${call.name}`);
  }

  function leavesItsRow(call: PortalCall, status: number, faults: Invocation['faults']): void {
    if (notLogged(call.name)) return;
    const says = call.row?.outcome;
    if (status < 400) {
      if (call.row?.action !== call.name || call.row.person !== call.person)
        accuse('every answered change has its row', `${call.id} ${call.name}`);
      else if (says !== 'done' && faults.length === 0)
        accuse('every answered change has its row', `${call.id} ${call.name} is ${says ?? ''}`);
    } else if (says === 'done' && status < 500)
      accuse('a refusal is no change that was done', `${call.id} ${call.name}`);
  }

  function refusalChangesNothing(call: PortalCall, status: number, faults: Invocation['faults']): void {
    if (call.wrote.size === 0) return;
    // A read of a payment first updates it to its state at Stripe.
    if (call.name === 'getPayment') return;
    if (portalOperations[call.name].method === 'GET')
      accuse('who only looks changes nothing', `${call.id} ${call.name} wrote ${[...call.wrote].join(', ')}`);
    if (status < 400 || status >= 500) return;
    // A cancel notes in the creation that it asks the vendor.
    if (call.name === 'cancelPortalCreation' && [...call.wrote].join() === 'CREATION') return;
    if (faults.some(({ kind }) => unsure.has(kind))) return;
    accuse(
      'a refusal changes nothing',
      `${call.id} ${call.name} ${status} wrote ${[...call.wrote].join(', ')}`,
    );
  }

  function creationIsOfThePlayground({ id, account }: PortalCall, creation: string): void {
    const item = table()?.get(`CREATION#${creation}`, 'CREATION');
    if (textOf(item, 'accountId') !== account || textOf(item, 'keyId') !== playgroundKeyId)
      accuse('the playground charges its own key', `${id}: ${creation}`);
  }

  /** Only the playground charges its key, and it charges no other. */
  function chargesTheRightKey(call: PortalCall | undefined, { sk, before, after }: Change): void {
    if (sk !== 'CREATION' || before) return;
    const isOfPlayground = textOf(after, 'keyId') === playgroundKeyId;
    if (isOfPlayground !== (call?.name === 'createCreation'))
      accuse('the playground charges its own key', textOf(after, 'id'));
  }

  /** A webhook is sent again by hand only when no attempt of it is due. All failed ones are those that failed. */
  function followRedelivery(call: PortalCall, { sk, before, after }: Change): void {
    const [old, next] = [before, after].map((item) => item?.['webhook']?.M?.['status']?.S);
    if (sk !== 'CREATION' || old === next || next !== 'pending') return;
    call.reopened += 1;
    if (call.name === 'redeliverFailed' && old !== 'failed')
      accuse('only webhooks that failed are sent again together', `${call.id}: ${old ?? ''}`);
  }

  function countsWhatItReopened(call: PortalCall, told: unknown, faults: Invocation['faults']): void {
    if (told !== undefined && told !== call.reopened && faults.length === 0)
      accuse(
        'a redelivery counts each webhook once',
        `${call.id}: ${JSON.stringify(told)}, not ${call.reopened}`,
      );
  }

  return {
    /** Texts of sessions that no log may have. */
    secrets,
    /** Receives a session with which the scenario begins. */
    onSignedIn: ({ id, token, sessionHash }: PersonHeld, account: string) => {
      signedInAt.set(`${account} ${id}`, world.time.now());
      for (const text of [token, sessionHash]) secrets.add(text);
    },
    onSent: (invocation: Invocation, event: APIGatewayProxyEventV2): PortalCall => {
      const name = operationOf(event.routeKey);
      const [, person = '', account = ''] = (event.cookies?.[0] ?? '').split('.');
      const role = textOf(table()?.get(`ACCOUNT#${account}`, `MEMBER#${person}`), 'role') as Role | '';
      const call: PortalCall = {
        id: invocation.id,
        name,
        account,
        person,
        startedAt: world.time.now(),
        pathId: event.pathParameters?.['id'] ?? '',
        body: bodyOf(event.body),
        roleAtFirst: role,
        isOver: ended.has(`${account} ${person}`),
        wrote: new Set(),
        reopened: 0,
      };
      calls.set(call.id, call);
      return call;
    },
    /** The call that was answered. Undefined: the playground was not asked. */
    onServed: (invocation: Invocation, answer: APIGatewayProxyStructuredResultV2): PortalCall | undefined => {
      const call = calls.get(invocation.id);
      if (!call) return undefined;
      const status = answer.statusCode ?? 0;
      const reason = memberOf(detailsOf(answer.body) ?? {}, 'reason');
      isLetIn(call, status, reason, answer.body?.includes('has no such operation') === true);
      leavesItsRow(call, status, invocation.faults);
      refusalChangesNothing(call, status, invocation.faults);
      edits.onServed(call, status, bodyOf(answer.body));
      if (status < 300) countsWhatItReopened(call, bodyOf(answer.body)['redelivered'], invocation.faults);
      if (status === 200 && (call.name === 'removePerson' || call.name === 'endSessions'))
        ended.add(`${call.account} ${call.pathId}`);
      if (call.name !== 'createCreation') return undefined;
      if (status < 300) creationIsOfThePlayground(call, memberOf(bodyOf(answer.body), 'id'));
      return call;
    },
    onCommit: (changes: readonly Change[]) => {
      followPeople(changes);
      if (signedInAt.size === 0) return;
      const call = calls.get(world.current()?.id ?? '');
      edits.onCommit(call, changes);
      for (const change of changes) {
        chargesTheRightKey(call, change);
        if (!call) continue;
        followWrite(call, change);
        followRedelivery(call, change);
      }
    },
  };
}

function operationOf(routeKey: string): PortalOperationName {
  const found = (Object.keys(portalOperations) as PortalOperationName[]).find((name) => {
    const { method, path } = portalOperations[name];
    return routeKey === `${method} ${portalRoot}${path}`;
  });
  if (!found) throw new Error(`no operation has the route ${routeKey}`);
  return found;
}
