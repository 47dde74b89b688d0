/** The requests of the request path: its one read and its counters. */
import { createRequestStore } from '../../../service/api/request-store.ts';
import { accountId, creationId, keyId, now } from '../../fixtures/records.ts';
import { describeRequests, type Row } from './recorder.ts';

const rows: readonly Row[] = [
  [
    'A counted request',
    (table) => createRequestStore(table).countRequest(accountId, 'get', 7, now),
    `
Update table pk: "ACCOUNT#Acc0unt001", sk: "RATE#GET#29921040"
  Update: ADD #count :one SET #ttl = :ttl
  Condition: attribute_not_exists(#count) OR #count < :limit
  #count: "count", #ttl: "expiresAtSeconds"
  :one: 1, :limit: 7, :ttl: 1795262550`,
  ],
  [
    'A used key',
    (table) => createRequestStore(table).noteKeyUse(accountId, keyId, 'hour'),
    `
Update table pk: "ACCOUNT#Acc0unt001", sk: "KEY#Key001"
  Update: SET lastUsedAt = :hour
  Condition: attribute_exists(pk)
  :hour: "hour"`,
  ],
  [
    'A poll',
    (table) => createRequestStore(table).stampPoll(creationId, 1_000, now),
    `
Update table pk: "CREATION#019aa5a0-1000-7000-8000-00000000000a", sk: "POLL"
  Update: SET lastPollAt = :now, #ttl = :ttl
  Condition: attribute_not_exists(lastPollAt) OR lastPollAt <= :before
  #ttl: "expiresAtSeconds"
  :now: 1795262430000, :before: 1795262429000, :ttl: 1795262490`,
  ],
];

describeRequests('The store of the request path', rows);
