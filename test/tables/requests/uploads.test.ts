/** The requests of uploads. */
import { expect, it } from 'vitest';
import type { createChargeStore } from '../../../service/creations/charge-store.ts';
import { chargeItems } from '../../../service/creations/charge.ts';
import { createUploadStore } from '../../../service/uploads/upload-store.ts';
import type { Upload } from '../../../service/uploads/upload.ts';
import type { UploadId } from '../../../service/values/ids.ts';
import { fakeClock, stub } from '../../api/fakes.ts';
import { accountId, aCreation, anApiKey, now, seededBytes } from '../../fixtures/records.ts';
import { describeRequests, type Row } from './recorder.ts';

/** Announced at 2025-11-21T18:23:41.312Z. */
const id = '019aa8f0-0000-7000-8000-00000000000a' as UploadId;
const expiresAt = Number.parseInt('019aa8f00000', 16) + 86_400_000;
const upload: Upload = { id, accountId, contentType: 'image/png', bytes: 5, key: 'uploads/x.png', expiresAt };
const place = { TableName: 'table', Key: { pk: 'ACCOUNT#Acc0unt001', sk: 'UNUSED_UPLOADS' } };

const rows: readonly Row[] = [
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

describeRequests('uploads', rows);

it('A charge with uploads has one more item at its end, without a condition', () => {
  const table = {
    client: stub<Parameters<typeof createChargeStore>[0]['client']>({}),
    name: 'table',
    clock: fakeClock(),
    randomBytes: seededBytes,
  };
  const order = {
    creations: [aCreation()] as const,
    apiKey: anApiKey(),
    maxConcurrent: 10,
    nowMillis: now,
  };
  const items = [...chargeItems(table, { ...order, uploads: [id] })];
  expect(items.at(-1)).toEqual([
    'uploads',
    {
      Update: {
        ...place,
        UpdateExpression: 'DELETE unused :gone',
        ExpressionAttributeValues: { ':gone': new Set([id]) },
      },
    },
  ]);
  expect([...chargeItems(table, { ...order, uploads: [] }).keys()]).toEqual([
    ...chargeItems(table, order).keys(),
  ]);
});
