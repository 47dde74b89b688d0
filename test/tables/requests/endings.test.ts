/** The requests that end a creation: refund and completion, and the lease before them. */
import { createChargeStore } from '../../../service/creations/charge-store.ts';
import { createCreationStore } from '../../../service/creations/creation-store.ts';
import { aCreation, creationId, now, storedImage } from '../../fixtures/records.ts';
import { describeRequests, type Row, webhook, delivery } from './recorder.ts';
import { createDeliveryStore } from '../../../service/webhooks/delivery-store.ts';

/** The counter of open creations, after the transaction. */
const theCount = `
Update table pk: "OPEN_COUNT#2", sk: "OPEN_COUNT"
  Update: ADD running :change
  :change: -1`;

const endings: readonly Row[] = [
  [
    'A refund',
    (table) =>
      createChargeStore(table).refund(aCreation({ webhook }), {
        failure: 'GenerationFailed',
        nowMillis: now,
        announce: true,
      }),
    `
TransactWrite
Update table pk: "CREATION#019aa5a0-1000-7000-8000-00000000000a", sk: "CREATION"
  Update: SET #status = :status, webhook = :webhook, #n0 = :v0, #n1 = :v1, #n2 = :v2, #n3 = :v3, #n4 = :v4 REMOVE lease
  Condition: #status IN (:queued, :processing)
  #status: "status", #n0: "failure", #n1: "refundedMicros", #n2: "completedAt", #n3: "openShard"
  #n4: "dueAt"
  :status: "failed", :queued: "queued", :processing: "processing"
  :webhook: {"url":"https://receiver.test/ok","status":"pending","attempts":0,"nextAt":1795262430000}
  :v0: "GenerationFailed", :v1: 40000, :v2: "2026-11-21T12:00:30.000Z", :v3: "WEBHOOK#2"
  :v4: 1795262540000
Update table pk: "ACCOUNT#Acc0unt001", sk: "ACCOUNT"
  Update: SET availableMicros = availableMicros + :cost, inFlight = inFlight - :one
  Condition: attribute_not_exists(eventsSince)
  :cost: 40000, :one: 1
Update table pk: "ACCOUNT#Acc0unt001", sk: "KEY#Key001"
  Update: ADD #spent :back, #day :back
  #spent: "spent_2026_11", #day: "day_2026_11_21"
  :back: -40000
Put table
  Condition: attribute_not_exists(pk)
  pk: "ACCOUNT#Acc0unt001"
  sk: "LEDGER#2026-11-21T12:00:30.000Z#refund#019aa5a0-1000-7000-8000-00000000000a", kind: "refund"
  amountMicros: 40000, creationId: "019aa5a0-1000-7000-8000-00000000000a", keyId: "Key001"
  month: "2026_11", day: "2026_11_21", model: "sandbox-standard", chargedOn: "2026-11-21"
  reason: "GenerationFailed", at: "2026-11-21T12:00:30.000Z"${theCount}`,
  ],
  [
    'A completion without a webhook',
    (table) =>
      createCreationStore(table).complete(aCreation(), {
        results: [storedImage],
        resultsExpireAt: now + 1_000_000,
        attempts: [],
        nowMillis: now,
      }),
    `
TransactWrite
Update table pk: "CREATION#019aa5a0-1000-7000-8000-00000000000a", sk: "CREATION"
  Update: SET #status = :status, #n0 = :v0, #n1 = :v1, #n2 = :v2, #n3 = :v3 REMOVE lease, openShard, dueAt
  Condition: #status IN (:queued, :processing)
  #status: "status", #n0: "results", #n1: "resultsExpireAt", #n2: "attempts", #n3: "completedAt"
  :status: "completed", :queued: "queued", :processing: "processing"
  :v0: [{"key":"results/unguessable.png","width":1024,"height":1024,"contentType":"image/png","bytes":123456}]
  :v1: 1795263430000, :v2: [], :v3: "2026-11-21T12:00:30.000Z"
Update table pk: "ACCOUNT#Acc0unt001", sk: "ACCOUNT"
  Update: SET inFlight = inFlight - :one
  Condition: attribute_not_exists(eventsSince)
  :one: 1${theCount}`,
  ],
  [
    'A lease',
    (table) => createCreationStore(table).lease(creationId, 'one', now + 9_000, now),
    `
Update table pk: "CREATION#019aa5a0-1000-7000-8000-00000000000a", sk: "LEASE"
  Update: SET holder = :holder, #until = :until, turn = if_not_exists(turn, :now) + :one, #ttl = :ttl
  Condition: attribute_not_exists(pk) OR #until <= :now OR holder = :holder
  ReturnValues: UPDATED_NEW
  #until: "until", #ttl: "expiresAtSeconds"
  :holder: "one", :until: 1795262439000, :now: 1795262430000, :one: 1, :ttl: 1795348830
Update table pk: "CREATION#019aa5a0-1000-7000-8000-00000000000a", sk: "CREATION"
  Update: SET #status = :processing, fence = :turn, startedAt = if_not_exists(startedAt, :at)
  Condition: #status IN (:queued, :processing) AND (attribute_not_exists(fence) OR fence <= :turn) AND (attribute_not_exists(lease) OR lease.#until <= :now OR lease.holder = :holder)
  ReturnValues: ALL_NEW
  ReturnValuesOnConditionCheckFailure: ALL_OLD
  #status: "status", #until: "until"
  :queued: "queued", :processing: "processing", :turn: 12, :holder: "one", :now: 1795262430000
  :at: "2026-11-21T12:00:30.000Z"`,
    [{ Attributes: { turn: 12 } }],
  ],
];

describeRequests('The end of a creation', endings);

const deliveries: readonly Row[] = [
  [
    'A first webhook attempt',
    (table) =>
      createDeliveryStore(table).claim({ delivery, body: '{}', nextAt: now + 9_000, nowMillis: now }),
    `
Update table pk: "CREATION#019aa5a0-1000-7000-8000-00000000000a", sk: "CREATION"
  ReturnValuesOnConditionCheckFailure: ALL_OLD
  Update: SET webhook.attempts = :attempt, webhook.nextAt = :next, webhook.claimedBy = :id, webhook.body = if_not_exists(webhook.body, :body)
  Condition: webhook.#status = :pending AND webhook.attempts = :before AND webhook.nextAt <= :now
  #status: "status"
  :pending: "pending", :before: 0, :attempt: 1, :now: 1795262430000, :next: 1795262439000
  :id: "019aa5a0-1000-7000-8000-000000000001", :body: "{}"
Put table
  pk: "ACCOUNT#Acc0unt001"
  sk: "DELIVERY#2026-11-21T12:00:30.000Z#019aa5a0-1000-7000-8000-000000000001"
  id: "019aa5a0-1000-7000-8000-000000000001", accountId: "Acc0unt001"
  creationId: "019aa5a0-1000-7000-8000-00000000000a", event: "creation.completed"
  url: "https://receiver.test/ok", attempt: 1, startedAt: "2026-11-21T12:00:30.000Z"
  expiresAtSeconds: 1797854430`,
  ],
  [
    'The end of an attempt that another one follows',
    (table) => createDeliveryStore(table).settle({ ...delivery, outcome: 'failed' }, { at: now + 9_000 }),
    `
Update table pk: "CREATION#019aa5a0-1000-7000-8000-00000000000a", sk: "CREATION"
  ReturnValuesOnConditionCheckFailure: ALL_OLD
  Update: SET webhook.nextAt = :next, openShard = :shard, dueAt = :due
  Condition: webhook.#status = :pending AND webhook.attempts = :attempt
  #status: "status"
  :pending: "pending", :attempt: 1, :next: 1795262439000, :shard: "WEBHOOK#2", :due: 1795262469000
Put table
  pk: "ACCOUNT#Acc0unt001"
  sk: "DELIVERY#2026-11-21T12:00:30.000Z#019aa5a0-1000-7000-8000-000000000001"
  id: "019aa5a0-1000-7000-8000-000000000001", accountId: "Acc0unt001"
  creationId: "019aa5a0-1000-7000-8000-00000000000a", event: "creation.completed"
  url: "https://receiver.test/ok", attempt: 1, startedAt: "2026-11-21T12:00:30.000Z", outcome: "failed"
  nextAttemptAt: "2026-11-21T12:00:39.000Z", expiresAtSeconds: 1797854430`,
  ],
  [
    'A reopened webhook',
    (table) => createDeliveryStore(table).reopen(aCreation({ executions: 3 }), now),
    `
TransactWrite
  ClientRequestToken: 01a1fdfa-bb30-7607-8809-0a0b0c0d0e0f
Update table pk: "CREATION#019aa5a0-1000-7000-8000-00000000000a", sk: "CREATION"
  Update: SET webhook.#status = :pending, webhook.attempts = :zero, webhook.nextAt = :now, openShard = :shard, dueAt = :due, executions = :execution, recoveries = :zero
  Condition: webhook.#status IN (:delivered, :failed, :skipped) AND executions = :executions AND attribute_not_exists(erasedAt)
  #status: "status"
  :pending: "pending", :delivered: "delivered", :failed: "failed", :skipped: "skipped", :zero: 0
  :now: 1795262430000, :shard: "WEBHOOK#2", :due: 1795262460000, :executions: 3, :execution: 4
Update table pk: "ACCOUNT#Acc0unt001", sk: "NEW_EVENT#evt_01a1fdfa-bb30-7607-8809-0a0b0c0d0e0f"
  Update: SET #of = :of, expiresAtSeconds = :ttl, again = :again
  #of: "of"
  :of: "019aa5a0-1000-7000-8000-00000000000a", :ttl: 1797854430, :again: true`,
  ],
];

describeRequests('The store of deliveries', deliveries);
