/** The reads and writes of every request of the portal. */
import { rememberedMillis } from '../../../core/portal/session.ts';
import { sessionMillis, type Session } from '../../../core/portal/people.ts';
import type { PortalAccess, PortalQuestion, PortalState } from '../../../core/ports/portal-access.ts';
import { asOffered, type SandboxSetting } from '../../../core/sandbox.ts';
import { batchGet } from '../batch-get.ts';
import { updateIf } from '../conditional.ts';
import { accountFromItem, blockFromItem } from '../mapping.ts';
import { memberFromItem, operatorFromItem, personFromItem } from './people-mapping.ts';
import { portalKeys } from './portal-keys.ts';
import { createRequestStore } from '../request-store.ts';
import { putItem } from '../send.ts';
import { keys, ttlAttribute, type Item, type ItemKey, type Table } from '../table.ts';

/** @param sandbox whom the deployment offers the sandbox to */
export function createPortalAccess(table: Table, sandbox: SandboxSetting = 'marked'): PortalAccess {
  return {
    read: (question) => readState(table, question, sandbox),
    countRejection: (address, nowMillis) =>
      createRequestStore(table).countRejection(address, '401', nowMillis),
    open: (session) => putItem(table, sessionToItem(session)),
    touch: async (hash, nowMillis) => {
      const minute = nowMillis - (nowMillis % 60_000);
      await updateIf(table, portalKeys.session(hash), {
        UpdateExpression: 'SET lastSeenAt = :minute',
        ConditionExpression:
          'attribute_exists(pk) AND attribute_not_exists(endedAt) AND lastSeenAt < :minute',
        ExpressionAttributeValues: { ':minute': minute },
      });
    },
    end: async (hash, nowMillis) => {
      await updateIf(table, portalKeys.session(hash), {
        UpdateExpression: 'SET endedAt = if_not_exists(endedAt, :now)',
        ConditionExpression: 'attribute_exists(pk)',
        ExpressionAttributeValues: { ':now': nowMillis },
      });
    },
    placesOf: async (personId, accounts) => {
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
