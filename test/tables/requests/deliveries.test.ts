/** The requests of webhook attempts. */
import { createDeliveryStore } from '../../../service/webhooks/delivery-store.ts';
import { aCreation, now } from '../../fixtures/records.ts';
import { delivery, describeRequests, type Row } from './recorder.ts';

const rows: readonly Row[] = [
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
  Condition: webhook.#status IN (:delivered, :failed, :skipped) AND executions = :executions
  #status: "status"
  :pending: "pending", :delivered: "delivered", :failed: "failed", :skipped: "skipped", :zero: 0
  :now: 1795262430000, :shard: "WEBHOOK#2", :due: 1795262460000, :executions: 3, :execution: 4
Update table pk: "ACCOUNT#Acc0unt001", sk: "NEW_EVENT#evt_01a1fdfa-bb30-7607-8809-0a0b0c0d0e0f"
  Update: SET #of = :of, expiresAtSeconds = :ttl, again = :again
  #of: "of"
  :of: "019aa5a0-1000-7000-8000-00000000000a", :ttl: 1797854430, :again: true`,
  ],
];

describeRequests('The store of deliveries', rows);
