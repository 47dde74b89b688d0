import { monthOf } from '../../core/creation.ts';
import { blockSeconds, rateWindowSeconds, rejectionsBeforeBlock } from '../../core/limits.ts';
import type { Rejection, RequestQuestion, RequestState, RequestStore } from '../../core/ports/requests.ts';
import { asOffered, type SandboxSetting } from '../../core/sandbox.ts';
import { batchGet } from './batch-get.ts';
import { updateIf } from './conditional.ts';
import {
  accountFromItem,
  apiKeyFromItem,
  blockFromItem,
  creationFromItem,
  idempotencyFromItem,
  userSpentFromItem,
  userToldFromItem,
} from './mapping.ts';
import { openCreationsOf } from './open-count-store.ts';
import { catalogRevisionOf, switchesOf } from './provider-store.ts';
import { updateItem } from './send.ts';
import { closedOf } from './service-switch.ts';
import { keys, minuteOf, openCountKeys, ttlAttribute, type Item, type ItemKey, type Table } from './table.ts';

/**
 * The reads and the counters of the request path.
 * @param sandbox whom the deployment offers the sandbox to
 */
export function createRequestStore(table: Table, sandbox: SandboxSetting = 'marked'): RequestStore {
  return {
    read: (question) => readState(table, question, sandbox),
    countRequest: async (account, rate, limit, nowMillis) => {
      if (limit === 0) return false;
      return updateIf(table, keys.rate(account, rate, minuteOf(nowMillis)), {
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
    noteKeyUse: async (account, key, hour) => {
      await updateIf(table, keys.apiKey(account, key), {
        UpdateExpression: 'SET lastUsedAt = :hour',
        ConditionExpression: 'attribute_exists(pk)',
        ExpressionAttributeValues: { ':hour': hour },
      });
    },
    stampPoll: async (id, intervalMillis, nowMillis) =>
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
    countRejection: (address, rejection, nowMillis) => countRejection(table, address, rejection, nowMillis),
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
    rate: key && keys.rate(key.accountId, question.rate, minuteOf(nowMillis)),
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
  const userTold = userToldFromItem(userSpend);
  const catalogRevision = catalogRevisionOf(found('service'));
  const live = idempotency && idempotencyFromItem(idempotency);
  const stored = block && blockFromItem(block);
  return {
    ...(stored && stored.untilMillis > nowMillis && { block: stored }),
    ...(account && { account: asOffered(accountFromItem(account), sandbox) }),
    ...(apiKey && { apiKey: apiKeyFromItem(apiKey) }),
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
