/** The requests of the tries of calls. */
import { expect, it } from 'vitest';
import { chargeParts, type ChargeOrder } from '../../../service/creations/charge.ts';
import type { Attempt, RetryEntry, RetryHead } from '../../../service/creations/retries.ts';
import { createRetryStore } from '../../../service/creations/retry-store.ts';
import type { CreationId, UploadId } from '../../../service/values/ids.ts';
import {
  accountId,
  aCreation,
  anApiKey,
  creationId,
  keyId,
  now,
  seededBytes,
} from '../../fixtures/records.ts';
import { describeRequests, nowSeconds, type Row } from './recorder.ts';
import type { createChargeStore } from '../../../service/creations/charge-store.ts';
import { createUploadStore } from '../../../service/uploads/upload-store.ts';
import type { Upload } from '../../../service/uploads/upload.ts';
import { fakeClock, stub } from '../../api/fakes.ts';

const place = { accountId, keyId, bodyHash: 'body' };
const head = { pk: 'ACCOUNT#Acc0unt001', sk: 'RETRY#Key001#body' };
const other = '019aa5a0-1000-7000-8000-00000000000b' as CreationId;
const entry: RetryEntry = { id: `${now - 5}#${other}`, creationIds: [other], madeAt: now - 5, seen: [0] };
const entryKey = { pk: head.pk, sk: `${head.sk}#${entry.id}` };

const notes: readonly Row[] = [
  [
    'The note of an answer',
    (table) => createRetryStore(table).note(place, entry, 'pictures'),
    `
Update table pk: "ACCOUNT#Acc0unt001", sk: "RETRY#Key001#body#1795262429995#019aa5a0-1000-7000-8000-00000000000b"
  Update: SET told = :told
  Condition: creationId = :creation
  :told: "pictures", :creation: "019aa5a0-1000-7000-8000-00000000000b"`,
  ],
];

describeRequests('The store of retries', notes);

const table = { name: 'table' } as Parameters<typeof chargeParts>[0];

/** The items that the charge of this try writes for its call. */
function itemsOf(
  retry: ChargeOrder['retry'],
  creations: ChargeOrder['creations'] = [aCreation()],
): unknown[] {
  const order = { creations, apiKey: anApiKey(), maxConcurrent: 20, nowMillis: now };
  const parts = chargeParts(table, { ...order, ...(retry && { retry }) });
  return parts.slice(chargeParts(table, order).length).map(({ item }) => item);
}

it.each<[Attempt, RetryHead | undefined, string, string | undefined, object]>([
  [0, undefined, 'ADD made :one SET #ttl = :ttl', 'attribute_not_exists(madeByRetry)', {}],
  [0, { made: 3, madeByRetry: 0 }, 'ADD made :one SET #ttl = :ttl', 'attribute_not_exists(madeByRetry)', {}],
  [
    0,
    { made: 3, madeByRetry: 2 },
    'ADD made :one SET #ttl = :ttl',
    'madeByRetry = :madeByRetry',
    { ':madeByRetry': 2 },
  ],
  [1, undefined, 'ADD made :one, madeByRetry :one SET #ttl = :ttl', 'attribute_not_exists(made)', {}],
  [
    2,
    { made: 3, madeByRetry: 2 },
    'ADD made :one, madeByRetry :one SET #ttl = :ttl',
    'made = :made',
    { ':made': 3 },
  ],
  [undefined, { made: 3, madeByRetry: 2 }, 'ADD made :one SET #ttl = :ttl', undefined, {}],
])(
  'The charge of a try with number %j that read the head %j counts an entry, and names what was read',
  (attempt, read, update, condition, values) => {
    expect(itemsOf({ kind: 'new_entry', place, attempt, head: read })).toEqual([
      {
        Update: {
          TableName: 'table',
          Key: head,
          UpdateExpression: update,
          ...(condition !== undefined && { ConditionExpression: condition }),
          ExpressionAttributeNames: { '#ttl': 'expiresAtSeconds' },
          ExpressionAttributeValues: { ':one': 1, ':ttl': nowSeconds + 1800, ...values },
        },
      },
      {
        Put: {
          TableName: 'table',
          Item: {
            pk: head.pk,
            sk: `${head.sk}#${now}#${creationId}`,
            creationId,
            [`try${attempt ?? 0}`]: creationId,
            madeAt: now,
            expiresAt: now + 900_000,
            expiresAtSeconds: nowSeconds + 900,
          },
          ConditionExpression: 'attribute_not_exists(pk)',
        },
      },
    ]);
  },
);

it('The charge in the place of failed creations changes their entry alone', () => {
  const updated = (
    names: object,
    values: object,
    sets: string,
    removes: string,
    condition: string,
  ): object => ({
    Update: {
      TableName: 'table',
      Key: entryKey,
      UpdateExpression: `SET #mark = :token, expiresAt = :until, #ttl = :ttl, creationId = :new${sets} REMOVE told${removes}`,
      ConditionExpression: `creationId = :creation AND (${condition} OR #mark = :token)`,
      ExpressionAttributeNames: { '#ttl': 'expiresAtSeconds', ...names },
      ExpressionAttributeValues: {
        ':token': creationId,
        ':creation': other,
        ':until': now + 900_000,
        ':ttl': nowSeconds + 900,
        ':new': creationId,
        ...values,
      },
    },
  });
  expect(itemsOf({ kind: 'same_entry', place, attempt: 1, entry })).toEqual([
    updated({ '#mark': 'try1' }, {}, '', ', creationIds', 'attribute_not_exists(#mark)'),
  ]);
  const third = '019aa5a0-1000-7000-8000-00000000000c' as CreationId;
  const two: ChargeOrder['creations'] = [aCreation(), aCreation({ id: third })];
  expect(itemsOf({ kind: 'same_entry', place, attempt: undefined, entry }, two)).toEqual([
    updated(
      { '#mark': 'takenBy' },
      { ':rendering': 'rendering', ':several': [creationId, third] },
      ', creationIds = :several',
      '',
      'told = :rendering',
    ),
  ]);
});

/** Announced at 2025-11-21T18:23:41.312Z. */
const id = '019aa8f0-0000-7000-8000-00000000000a' as UploadId;
const expiresAt = Number.parseInt('019aa8f00000', 16) + 86_400_000;
const upload: Upload = { id, accountId, contentType: 'image/png', bytes: 5, key: 'uploads/x.png', expiresAt };
const unusedUploads = { TableName: 'table', Key: { pk: 'ACCOUNT#Acc0unt001', sk: 'UNUSED_UPLOADS' } };

const uploads: readonly Row[] = [
  [
    'A new upload',
    (table) => createUploadStore(table).create(upload, 9, now),
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
  [
    'The uploads of a request',
    (table) => createUploadStore(table).usable(accountId, [id], now),
    `
BatchGet
  table: {"Keys":[{"pk":"ACCOUNT#Acc0unt001","sk":"UPLOAD#019aa8f0-0000-7000-8000-00000000000a"}],"ConsistentRead":true}`,
    [{ Responses: { table: [] } }],
  ],
  [
    'No upload',
    (table) => createUploadStore(table).usable(accountId, [], now),
    `
`,
  ],
];

describeRequests('uploads', uploads);

it('A charge with uploads has one more item at its end, without a condition', () => {
  const table = {
    client: stub<Parameters<typeof createChargeStore>[0]['client']>({}),
    name: 'table',
    clock: fakeClock(),
    randomBytes: seededBytes,
  };
  const order = { creations: [aCreation()] as const, apiKey: anApiKey(), maxConcurrent: 10, nowMillis: now };
  const parts = chargeParts(table, { ...order, uploads: [id] });
  expect(parts.at(-1)?.item).toEqual({
    Update: {
      ...unusedUploads,
      UpdateExpression: 'DELETE unused :gone',
      ExpressionAttributeValues: { ':gone': new Set([id]) },
    },
  });
  expect(chargeParts(table, { ...order, uploads: [] })).toHaveLength(parts.length - 1);
});
