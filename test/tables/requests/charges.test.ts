/** The requests of a charge, of the tries and uploads that it may have, and of the movements of the wallet. */
import { createChargeStore } from '../../../service/creations/charge-store.ts';
import { createRetryStore } from '../../../service/creations/retry-store.ts';
import type { RetryEntry } from '../../../service/creations/retries.ts';
import { createUploadStore } from '../../../service/uploads/upload-store.ts';
import type { CreationId, UploadId } from '../../../service/values/ids.ts';
import { asMicros } from '../../../service/values/money.ts';
import { aCreation, anApiKey, now, accountId, keyId } from '../../fixtures/records.ts';
import { describeRequests, type Row, webhook } from './recorder.ts';
import { createWalletStore } from '../../../service/accounts/wallet-store.ts';

const otherId = '019aa5a0-1000-7000-8000-00000000000b' as CreationId;
const uploadId = '019aa8f0-0000-7000-8000-00000000000a' as UploadId;
const place = { accountId, keyId, bodyHash: 'body' };
const entry: RetryEntry = {
  id: `${now - 5}#${otherId}`,
  creationIds: [otherId],
  madeAt: now - 5,
  seen: [0],
};

const charges: readonly Row[] = [
  [
    'A charge with a rate, all caps, models, a user, a day that is over, the key of a failed creation, a try and an upload',
    (table) =>
      createChargeStore(table).charge({
        creations: [aCreation({ requestId: 'req-1', webhook, user: 'customer 7', countedForUser: true })],
        maxConcurrent: 10,
        postRate: 60,
        nowMillis: now,
        idempotency: { hash: 'hash', requestHash: 'request', replaces: otherId },
        retry: { kind: 'new_entry', place, attempt: 1, head: { made: 3, madeByRetry: 2 } },
        uploads: [uploadId],
        apiKey: anApiKey({
          dailyCapMicros: asMicros(50_000),
          monthlyCapMicros: asMicros(60_000),
          totalCapMicros: asMicros(200_000),
          perUserMonthlyCapMicros: asMicros(45_000),
          models: ['sandbox-standard'],
          spent: { '2026_09': asMicros(9_000), '2026_10': asMicros(1_000), '2026_11': asMicros(5_000) },
          spentByDay: { '2026_11_17': asMicros(1), '2026_11_18': asMicros(2), '2026_11_21': asMicros(3) },
        }),
      }),
    `
TransactWrite
  ClientRequestToken: 019aa5a0-1000-7000-8000-00000000000a
Update table pk: "ACCOUNT#Acc0unt001", sk: "ACCOUNT"
  Update: SET availableMicros = availableMicros - :cost, inFlight = inFlight + :one
  Condition: #condition = :active AND availableMicros >= :cost AND inFlight < maxConcurrent
  ReturnValuesOnConditionCheckFailure: ALL_OLD
  #condition: "condition"
  :active: "active", :cost: 40000, :one: 1
Update table pk: "ACCOUNT#Acc0unt001", sk: "KEY#Key001"
  Update: ADD #spent :cost, #day :cost SET lastUsedAt = :hour REMOVE #over0
  Condition: attribute_exists(pk) AND attribute_not_exists(revokedAt) AND (attribute_not_exists(expiresAt) OR expiresAt > :at) AND (attribute_not_exists(models) OR contains(models, :model)) AND dailyCapMicros = :dailyCapMicros AND monthlyCapMicros = :monthlyCapMicros AND totalCapMicros = :totalCapMicros AND perUserMonthlyCapMicros = :perUserMonthlyCapMicros AND (attribute_not_exists(#day) OR #day <= :dayRoom) AND (attribute_not_exists(#spent) OR #spent <= :monthRoom) AND (attribute_not_exists(#spent) OR #spent <= :totalRoom) AND #monthBefore <= :monthBefore AND attribute_not_exists(#monthAfter)
  ReturnValuesOnConditionCheckFailure: ALL_OLD
  #spent: "spent_2026_11", #day: "day_2026_11_21", #over0: "day_2026_11_17"
  #monthBefore: "spent_2026_10", #monthAfter: "spent_2026_12"
  :cost: 40000, :hour: "2026-11-21T12:00:00.000Z", :at: "2026-11-21T12:00:30.000Z"
  :model: "sandbox-standard", :dailyCapMicros: 50000, :monthlyCapMicros: 60000, :totalCapMicros: 200000
  :perUserMonthlyCapMicros: 45000, :dayRoom: 10000, :monthRoom: 20000, :totalRoom: 150000
  :monthBefore: 1000
Update table pk: "ACCOUNT#Acc0unt001", sk: "USER#Key001#2026_11#qFZO64ujsl-h2px8oToskNzfyKKeO6k9ozzKZp4L2Tc"
  Update: ADD spentMicros :cost SET #ttl = :ttl
  Condition: attribute_not_exists(spentMicros) OR spentMicros <= :room
  ReturnValuesOnConditionCheckFailure: ALL_OLD
  #ttl: "expiresAtSeconds"
  :cost: 40000, :room: 5000, :ttl: 1804032000
Update table pk: "ACCOUNT#Acc0unt001", sk: "RATE#POST#29921040"
  Update: ADD #count :one SET #ttl = :ttl
  Condition: attribute_not_exists(#count) OR #count < :limit
  #count: "count", #ttl: "expiresAtSeconds"
  :one: 1, :limit: 60, :ttl: 1795262550
Put table
  Condition: attribute_not_exists(pk)
  pk: "CREATION#019aa5a0-1000-7000-8000-00000000000a", sk: "CREATION", v: 1
  id: "019aa5a0-1000-7000-8000-00000000000a", accountId: "Acc0unt001", keyId: "Key001"
  status: "queued", model: "sandbox-standard", prompt: "a quiet lake", resolution: "1K"
  aspectRatio: "1:1", outputFormat: "png", seed: null, sources: [], metadata: "{}", costMicros: 40000
  refundedMicros: 0, chargedMonth: "2026_11", chargedDay: "2026_11_21"
  createdAt: "2026-11-21T12:00:30.000Z", deadlineAt: 1795262730000, results: []
  routes: [{"provider":"sandbox","providerModel":"standard"}], attempts: [], executions: 1
  recoveries: 0, dueAt: 1795262490000
  webhook: {"url":"https://receiver.test/ok","status":"pending","attempts":0,"nextAt":1795262430000}
  user: "customer 7", countedForUser: true, openShard: "OPEN#2", listing: "CREATIONS#Acc0unt001"
  listed: "019aa5a0-1000-7000-8000-00000000000a"
Put table
  Condition: attribute_not_exists(pk)
  pk: "ACCOUNT#Acc0unt001"
  sk: "LEDGER#2026-11-21T12:00:30.000Z#charge#019aa5a0-1000-7000-8000-00000000000a", kind: "charge"
  amountMicros: -40000, creationId: "019aa5a0-1000-7000-8000-00000000000a", keyId: "Key001"
  month: "2026_11", day: "2026_11_21", countedForUser: true, user: "customer 7", requestId: "req-1"
  model: "sandbox-standard", at: "2026-11-21T12:00:30.000Z"
Put table
  Condition: attribute_not_exists(pk) OR expiresAt <= :now OR creationId = :failed
  ReturnValuesOnConditionCheckFailure: ALL_OLD
  :now: 1795262430000, :failed: "019aa5a0-1000-7000-8000-00000000000b"
  pk: "ACCOUNT#Acc0unt001", sk: "IDEMPOTENCY#hash", creationId: "019aa5a0-1000-7000-8000-00000000000a"
  requestHash: "request", expiresAt: 1795348830000, expiresAtSeconds: 1795348830
Update table pk: "ACCOUNT#Acc0unt001", sk: "RETRY#Key001#body"
  Update: ADD made :one, madeByRetry :one SET #ttl = :ttl
  Condition: made = :made
  #ttl: "expiresAtSeconds"
  :one: 1, :ttl: 1795264230, :made: 3
Put table
  Condition: attribute_not_exists(pk)
  pk: "ACCOUNT#Acc0unt001", sk: "RETRY#Key001#body#1795262430000#019aa5a0-1000-7000-8000-00000000000a"
  creationId: "019aa5a0-1000-7000-8000-00000000000a", try1: "019aa5a0-1000-7000-8000-00000000000a"
  madeAt: 1795262430000, expiresAt: 1795263330000, expiresAtSeconds: 1795263330
Update table pk: "ACCOUNT#Acc0unt001", sk: "UNUSED_UPLOADS"
  Update: DELETE unused :gone
  :gone: {}`,
  ],
];

const tries: readonly Row[] = [
  [
    'A try that attaches to an entry',
    (table) => createRetryStore(table).attach({ place, attempt: 1, arrivedMillis: now }, entry, now),
    `
Update table pk: "ACCOUNT#Acc0unt001", sk: "RETRY#Key001#body#1795262429995#019aa5a0-1000-7000-8000-00000000000b"
  Update: SET #mark = :token, expiresAt = :until, #ttl = :ttl REMOVE told
  Condition: creationId = :creation AND (attribute_not_exists(#mark) OR #mark = :token)
  #ttl: "expiresAtSeconds", #mark: "try1"
  :token: "AAECAwQFBgcICQoL", :creation: "019aa5a0-1000-7000-8000-00000000000b", :until: 1795263330000
  :ttl: 1795263330`,
  ],
  [
    'The note of an answer',
    (table) => createRetryStore(table).note(place, entry, 'pictures'),
    `
Update table pk: "ACCOUNT#Acc0unt001", sk: "RETRY#Key001#body#1795262429995#019aa5a0-1000-7000-8000-00000000000b"
  Update: SET told = :told
  Condition: creationId = :creation
  :told: "pictures", :creation: "019aa5a0-1000-7000-8000-00000000000b"`,
  ],
  [
    'A new upload',
    (table) =>
      createUploadStore(table).create(
        {
          ...{ id: uploadId, accountId, contentType: 'image/png', bytes: 5 },
          ...{ key: 'uploads/x.png', expiresAt: 1_763_857_292_288 },
        },
        9,
        now,
      ),
    `
Put table
  Condition: attribute_not_exists(pk)
  pk: "ACCOUNT#Acc0unt001", sk: "UPLOAD#019aa8f0-0000-7000-8000-00000000000a"
  id: "019aa8f0-0000-7000-8000-00000000000a", accountId: "Acc0unt001", contentType: "image/png"
  bytes: 5, key: "uploads/x.png", expiresAt: 1763857292288, expiresAtSeconds: 1763857293
Update table pk: "ACCOUNT#Acc0unt001", sk: "UNUSED_UPLOADS"
  ReturnValuesOnConditionCheckFailure: ALL_OLD
  Update: ADD unused :one SET #ttl = :ttl
  Condition: (attribute_not_exists(unused) OR size(unused) < :limit) OR contains(unused, :id)
  #ttl: "expiresAtSeconds"
  :one: {}, :id: "019aa8f0-0000-7000-8000-00000000000a", :limit: 9, :ttl: 1763857293`,
  ],
];

describeRequests('The store of charges', charges);
describeRequests('The stores of tries and uploads', tries);

const movements: readonly Row[] = [
  [
    'An adjustment with a reference',
    (table) => createWalletStore(table).adjust(accountId, asMicros(5), 'reason', 'reference'),
    `
TransactWrite
  ClientRequestToken: 000102030405060708090a0b0c0d0e0f
Update table pk: "ACCOUNT#Acc0unt001", sk: "ACCOUNT"
  Update: SET availableMicros = availableMicros + :amount
  Condition: availableMicros <= :room
  :amount: 5, :room: 999999999999995
Put table
  Condition: attribute_not_exists(pk)
  pk: "ACCOUNT#Acc0unt001"
  sk: "LEDGER#2026-11-21T12:00:30.000Z#adjustment#000102030405060708090a0b0c0d0e0f", kind: "adjustment"
  amountMicros: 5, at: "2026-11-21T12:00:30.000Z", reason: "reason", reference: "reference"
Put table
  Condition: attribute_not_exists(pk)
  ReturnValuesOnConditionCheckFailure: ALL_OLD
  pk: "ACCOUNT#Acc0unt001", sk: "REFERENCE#reference", kind: "adjustment", amountMicros: 5
  at: "2026-11-21T12:00:30.000Z"`,
  ],
  [
    'A new credit line',
    (table) => createWalletStore(table).setCreditLine(accountId, asMicros(3), asMicros(5)),
    `
TransactWrite
  ClientRequestToken: 000102030405060708090a0b0c0d0e0f
Update table pk: "ACCOUNT#Acc0unt001", sk: "ACCOUNT"
  Update: SET availableMicros = availableMicros + :change, creditLineMicros = :to
  Condition: creditLineMicros = :from AND availableMicros <= :room
  ReturnValuesOnConditionCheckFailure: ALL_OLD
  :change: 2, :to: 5, :from: 3, :room: 999999999999998
Put table
  Condition: attribute_not_exists(pk)
  pk: "ACCOUNT#Acc0unt001"
  sk: "LEDGER#2026-11-21T12:00:30.000Z#credit_line#000102030405060708090a0b0c0d0e0f"
  kind: "credit_line", amountMicros: 2, at: "2026-11-21T12:00:30.000Z"`,
  ],
];

describeRequests('The store of the wallet', movements);
