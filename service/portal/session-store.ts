/** The reads and writes of every request of the portal. */
import { accountFromItem } from '../accounts/account-items.ts';
import type { Account } from '../accounts/account.ts';
import { type Block, blockFromItem, createRequestStore } from '../api/request-store.ts';
import { batchGet } from '../aws/dynamodb/batch-get.ts';
import { updateIf } from '../aws/dynamodb/conditional.ts';
import { putItem } from '../aws/dynamodb/send.ts';
import { type Item, type ItemKey, keys, type Table, ttlAttribute } from '../aws/dynamodb/table.ts';
import { asOffered } from '../catalog/sandbox.ts';
import type { SandboxSetting } from '../contract/sandbox.ts';
import type { AccountId, PersonId } from '../values/ids.ts';
import { memberFromItem, operatorFromItem, personFromItem } from './people-store.ts';
import { type Member, type Operator, type Person, type Session, sessionMillis } from './people.ts';
import { portalKeys } from './portal-key-items.ts';
import { type PresentedSession, rememberedMillis } from './session.ts';

/** @param sandbox whom the deployment offers the sandbox to */
export function createPortalAccess(table: Table, sandbox: SandboxSetting = 'marked') {
  return {
    /** One consistent BatchGetItem. Throws Overloaded when not all of it could be read. */
    read: (question: PortalQuestion): Promise<PortalState> => readState(table, question, sandbox),
    /** Counts an unknown cookie, and blocks the address after too many of them. */
    countRejection: (address: string, nowMillis: number): Promise<void> =>
      createRequestStore(table).countRejection(address, '401', nowMillis),
    open: (session: Session): Promise<void> => putItem(table, sessionToItem(session)),
    /** Notes to the minute that the session is in use. A session that has ended stays as it is. */
    touch: async (hash: string, nowMillis: number) => {
      const minute = nowMillis - (nowMillis % 60_000);
      await updateIf(table, portalKeys.session(hash), {
        UpdateExpression: 'SET lastSeenAt = :minute',
        ConditionExpression:
          'attribute_exists(pk) AND attribute_not_exists(endedAt) AND lastSeenAt < :minute',
        ExpressionAttributeValues: { ':minute': minute },
      });
    },
    /** The session is dead at the next request. */
    end: async (hash: string, nowMillis: number) => {
      await updateIf(table, portalKeys.session(hash), {
        UpdateExpression: 'SET endedAt = if_not_exists(endedAt, :now)',
        ConditionExpression: 'attribute_exists(pk)',
        ExpressionAttributeValues: { ':now': nowMillis },
      });
    },
    /** The memberships of the person in these accounts, and among the people of the operator. */
    membersOf: async (
      personId: PersonId,
      accounts: readonly AccountId[],
    ): Promise<{ readonly members: readonly Member[]; readonly operator?: Operator }> => {
      const scopes = [...accounts, 'SERVICE' as const];
      const items = await batchGet(
        table,
        scopes.map((scope) => portalKeys.member(scope, personId)),
      );
      const service = portalKeys.member('SERVICE', personId).pk;
      const operator = items.find(({ pk }) => pk === service);
      return {
        members: items.filter(({ pk }) => pk !== service).map(memberFromItem),
        ...(operator && { operator: operatorFromItem(operator) }),
      };
    },
  };
}

async function readState(
  table: Table,
  { clientAddress, nowMillis, session }: PortalQuestion,
  sandbox: SandboxSetting,
): Promise<PortalState> {
  const accountId = session?.accountId;
  const wanted = {
    block: keys.block(clientAddress),
    session: session && portalKeys.session(session.hash),
    person: session && portalKeys.person(session.personId),
    operator: session && portalKeys.member('SERVICE', session.personId),
    member: session && accountId && portalKeys.member(accountId, session.personId),
    account: accountId && keys.account(accountId),
  } satisfies Record<string, ItemKey | undefined>;
  const items = await batchGet(
    table,
    Object.values(wanted).filter((key) => key !== undefined),
  );
  const found = (name: keyof typeof wanted): Item | undefined => {
    const place = wanted[name];
    return place && items.find((item) => item['pk'] === place.pk && item['sk'] === place.sk);
  };
  const [block, stored, person] = [found('block'), found('session'), found('person')];
  const [operator, member, account] = [found('operator'), found('member'), found('account')];
  const blocked = block && blockFromItem(block);
  return {
    ...(blocked && blocked.untilMillis > nowMillis && { block: blocked }),
    ...(stored && { session: sessionFromItem(stored) }),
    ...(person && { person: personFromItem(person) }),
    ...(operator && { operator: operatorFromItem(operator) }),
    ...(member && { member: memberFromItem(member) }),
    ...(account && { account: asOffered(accountFromItem(account), sandbox) }),
  };
}

function sessionToItem(session: Session): Item & ItemKey {
  const until = session.createdAt + sessionMillis + rememberedMillis;
  return { ...portalKeys.session(session.hash), ...session, [ttlAttribute]: Math.ceil(until / 1000) };
}

function sessionFromItem(item: Item): Session {
  const { pk: _pk, sk: _sk, [ttlAttribute]: _ttl, ...session } = item;
  return session as unknown as Session;
}

/** The one consistent read at the beginning of a request of the portal, and what follows from it. */
interface PortalQuestion {
  /** service/outbound/client-address.ts. */
  readonly clientAddress: string;
  readonly nowMillis: number;
  /** Absent when the request has no well-formed cookie. */
  readonly session?: PresentedSession;
}

interface PortalState {
  readonly block?: Block;
  readonly session?: Session;
  readonly person?: Person;
  readonly member?: Member;
  readonly account?: Account;
  readonly operator?: Operator;
}

export type PortalAccess = ReturnType<typeof createPortalAccess>;
