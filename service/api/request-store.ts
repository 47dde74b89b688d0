/** What a request reads and counts before its work. */
import {
  accountFromItem,
  apiKeyFromItem,
  userSpentFromItem,
  userToldFromItem,
} from '../accounts/account-items.ts';
import type { Account, ApiKey, ToldCap } from '../accounts/account.ts';
import { batchGet } from '../aws/dynamodb/batch-get.ts';
import { updateIf } from '../aws/dynamodb/conditional.ts';
import { updateItem } from '../aws/dynamodb/send.ts';
import {
  type Item,
  type ItemKey,
  keys,
  minuteOf,
  openCountKeys,
  type Table,
  ttlAttribute,
} from '../aws/dynamodb/table.ts';
import { catalogRevisionOf, switchesOf } from '../catalog/provider-store.ts';
import type { ProviderSwitches } from '../catalog/providers.ts';
import { asOffered } from '../catalog/sandbox.ts';
import { blockSeconds, rateWindowSeconds, rejectionsBeforeBlock } from '../contract/limits.ts';
import type { SandboxSetting } from '../contract/sandbox.ts';
import { creationFromItem, idempotencyFromItem } from '../creations/creation-items.ts';
import type { CreationRecord, IdempotencyRecord } from '../creations/creation.ts';
import { closedOf, type ClosedService, openCreationsOf } from '../creations/service-state-store.ts';
import type { AccountId, CreationId, KeyId, TokenId } from '../values/ids.ts';
import type { Micros } from '../values/money.ts';
import { monthOf } from '../values/time.ts';

export function blockFromItem(item: Item): Block {
  return {
    untilMillis: Number(item['untilMillis']),
    scope: item['scope'] === 'all' ? 'all' : 'public',
    ...(item['isKeyless'] === true && { isKeyless: true }),
  };
}

/** The reads and counters of the request path. @param sandbox to whom the sandbox is offered */
export function createRequestStore(table: Table, sandbox: SandboxSetting = 'marked') {
  return {
    /** One consistent BatchGetItem. Throws Overloaded when not all of it could be read. */
    read: (question: RequestQuestion): Promise<RequestState> => readState(table, question, sandbox),
    /** Counts one request. False when the limit of the window is used up. */
    countRequest: async (
      account: AccountId,
      rate: 'get' | 'post',
      limit: number,
      nowMillis: number,
      token?: TokenId,
    ): Promise<boolean> => {
      if (limit === 0) return false;
      return updateIf(table, keys.rate(account, rate, minuteOf(nowMillis), token), {
        UpdateExpression: 'ADD #count :one SET #ttl = :ttl',
        ConditionExpression: 'attribute_not_exists(#count) OR #count < :limit',
        ExpressionAttributeNames: { '#count': 'count', '#ttl': ttlAttribute },
        ExpressionAttributeValues: {
          ':one': 1,
          ':limit': limit,
          ':ttl': secondsAfter(nowMillis, 2 * rateWindowSeconds),
        },
      });
    },
    /** Notes when a key was last used, to the hour. */
    noteKeyUse: async (account: AccountId, key: KeyId, hour: string) => {
      await updateIf(table, keys.apiKey(account, key), {
        UpdateExpression: 'SET lastUsedAt = :hour',
        ConditionExpression: 'attribute_exists(pk)',
        ExpressionAttributeValues: { ':hour': hour },
      });
    },
    /** Notes the time of a poll. False when the last poll is less than the interval ago. */
    stampPoll: async (id: CreationId, intervalMillis: number, nowMillis: number): Promise<boolean> =>
      updateIf(table, keys.poll(id), {
        UpdateExpression: 'SET lastPollAt = :now, #ttl = :ttl',
        ConditionExpression: 'attribute_not_exists(lastPollAt) OR lastPollAt <= :before',
        ExpressionAttributeNames: { '#ttl': ttlAttribute },
        ExpressionAttributeValues: {
          ':now': nowMillis,
          ':before': nowMillis - intervalMillis,
          ':ttl': secondsAfter(nowMillis, 60),
        },
      }),
    /** Counts a rejected authentication, and blocks the address after too many of them. */
    countRejection: (address: string, rejection: Rejection, nowMillis: number): Promise<void> =>
      countRejection(table, address, rejection, nowMillis),
  };
}

function secondsAfter(millis: number, seconds: number): number {
  return Math.floor(millis / 1000) + seconds;
}

async function readState(
  table: Table,
  question: RequestQuestion,
  sandbox: SandboxSetting,
): Promise<RequestState> {
  const { key, nowMillis } = question;
  const asksTheService = key !== undefined && question.creationId === undefined;
  const wanted: Record<string, ItemKey | undefined> = {
    block: keys.block(question.clientAddress),
    account: key && keys.account(key.accountId),
    apiKey: key && keys.apiKey(key.accountId, key.keyId),
    token: key?.tokenId && keys.userToken(key.accountId, key.tokenId),
    rate: key && keys.rate(key.accountId, question.rate, minuteOf(nowMillis), key.tokenId),
    idempotency:
      key && question.idempotencyHash !== undefined
        ? keys.idempotency(key.accountId, question.idempotencyHash)
        : undefined,
    creation: question.creationId && keys.creation(question.creationId),
    userSpend:
      key && question.userHash !== undefined
        ? keys.userSpend(key.accountId, key.keyId, monthOf(nowMillis), question.userHash)
        : undefined,
    service: asksTheService ? keys.service() : undefined,
  };
  const items = await batchGet(table, [
    ...Object.values(wanted).filter((item) => item !== undefined),
    // Only a POST can make a creation.
    ...(asksTheService && question.rate === 'post' ? openCountKeys : []),
  ]);
  const found = (name: string): Item | undefined => {
    const place = wanted[name];
    return place && items.find((item) => item['pk'] === place.pk && item['sk'] === place.sk);
  };
  return {
    ...stateOf(found, sandbox, nowMillis),
    openCreations: openCreationsOf(found('service'), items),
  };
}

function stateOf(
  found: (name: string) => Item | undefined,
  sandbox: SandboxSetting,
  nowMillis: number,
): Omit<RequestState, 'openCreations'> {
  const block = found('block');
  const account = found('account');
  const apiKey = found('apiKey');
  const idempotency = found('idempotency');
  const creation = found('creation');
  const userSpend = found('userSpend');
  const tokenItem = found('token');
  const userTold = userToldFromItem(userSpend);
  const catalogRevision = catalogRevisionOf(found('service'));
  const live = idempotency && idempotencyFromItem(idempotency);
  const stored = block && blockFromItem(block);
  return {
    ...(stored && stored.untilMillis > nowMillis && { block: stored }),
    ...(account && { account: asOffered(accountFromItem(account), sandbox) }),
    ...(apiKey && { apiKey: apiKeyFromItem(apiKey) }),
    ...(tokenItem && { tokenItem }),
    ...(live && live.expiresAt > nowMillis && { idempotency: live }),
    ...(creation && { creation: creationFromItem(creation) }),
    ...(userSpend && { userSpentMicros: userSpentFromItem(userSpend) }),
    ...(userTold && { userTold }),
    ...(catalogRevision !== undefined && { catalogRevision }),
    ...closedOf(found('service')),
    rateCount: Number(found('rate')?.['count'] ?? 0),
    ...switchesOf(found('service')),
  };
}

async function countRejection(
  table: Table,
  address: string,
  rejection: Rejection,
  nowMillis: number,
): Promise<void> {
  const kind = rejection === '403' ? '403' : '401';
  const { Attributes: counted } = await updateItem(table, keys.rejected(address, kind, minuteOf(nowMillis)), {
    UpdateExpression: `ADD #count :one${kind === '401' ? ', keyless :keyless' : ''} SET #ttl = :ttl`,
    ExpressionAttributeNames: { '#count': 'count', '#ttl': ttlAttribute },
    ExpressionAttributeValues: {
      ':one': 1,
      ...(kind === '401' && { ':keyless': rejection === 'keyless' ? 1 : 0 }),
      ':ttl': secondsAfter(nowMillis, 2 * rateWindowSeconds),
    },
    ReturnValues: 'UPDATED_NEW',
  });
  const count = Number(counted?.['count']);
  if (count < rejectionsBeforeBlock) return;
  const isKeyless = count - Number(counted?.['keyless']) < rejectionsBeforeBlock;
  await block(table, address, kind === '403' ? 'public' : isKeyless ? 'all but people' : 'all', nowMillis);
}

/** The narrower blocks, each with the condition that it does not replace a wider one. */
const notWider = {
  public: '#scope <> :all',
  'all but people': '(#scope <> :all OR isKeyless = :isKeyless)',
} as const;

/** Wrong keys block more than requests without a key, and these more than the keys of a paused account. */
async function block(
  table: Table,
  address: string,
  reach: 'all' | keyof typeof notWider,
  nowMillis: number,
): Promise<void> {
  await updateIf(table, keys.block(address), {
    UpdateExpression: `SET untilMillis = :until, #scope = :scope${reach === 'public' ? '' : ', isKeyless = :isKeyless'}, #ttl = :ttl`,
    ...(reach !== 'all' && {
      ConditionExpression: `attribute_not_exists(pk) OR ${notWider[reach]} OR untilMillis <= :now`,
    }),
    ExpressionAttributeNames: { '#scope': 'scope', '#ttl': ttlAttribute },
    ExpressionAttributeValues: {
      ':until': nowMillis + blockSeconds * 1000,
      ':scope': reach === 'public' ? 'public' : 'all',
      ...(reach !== 'public' && { ':isKeyless': reach === 'all but people' }),
      ':ttl': secondsAfter(nowMillis, blockSeconds),
      ...(reach !== 'all' && { ':all': 'all', ':now': nowMillis }),
    },
  });
}

/** The one consistent read at the beginning of a request, and the counters of requests. */
export interface RequestQuestion {
  readonly clientAddress: string;
  /** Absent when the request carries no well-formed key. */
  readonly key?: {
    readonly accountId: AccountId;
    readonly keyId: KeyId;
    /** The token that the key minted, when the request carries the token. */
    readonly tokenId?: TokenId;
  };
  readonly rate: 'get' | 'post';
  readonly nowMillis: number;
  readonly idempotencyHash?: string;
  readonly creationId?: CreationId;
  /** service/accounts/end-user.ts. Reads what is spent in this month for the user by this key. */
  readonly userHash?: string;
}

/** Why an authentication was rejected: there was no key, the key or cookie was wrong, or the account is paused. */
type Rejection = 'keyless' | '401' | '403';

export interface Block {
  readonly untilMillis: number;
  readonly scope: 'all' | 'public';
  /**
   * Too few wrong keys for a full block: the other requests had no key. Signed-in people of the portal may
   * continue.
   */
  readonly isKeyless?: boolean;
}

/** The result of the consistent read. It has no providers when the question names a creation. */
export interface RequestState extends ProviderSwitches {
  readonly block?: Block;
  readonly account?: Account;
  readonly apiKey?: ApiKey;
  /** The token that the question names. Only the door for tokens reads it. */
  readonly tokenItem?: Item;
  readonly rateCount: number;
  readonly idempotency?: IdempotencyRecord;
  /** In the whole service, as an estimate. Only for a POST that names no creation. */
  readonly openCreations: number;
  /** The operator has closed the service. Never set when the question names a creation. */
  readonly closed?: ClosedService;
  /** Of the operator's catalog. Absent: there is none, or the question names a creation. */
  readonly catalogRevision?: string;
  readonly creation?: CreationRecord;
  /** What is spent in this month for the user, as far as the key's cap for each user has counted it. */
  readonly userSpentMicros?: Micros;
  readonly userTold?: ToldCap;
}

export type RequestStore = ReturnType<typeof createRequestStore>;
