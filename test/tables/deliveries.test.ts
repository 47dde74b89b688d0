/** Webhook attempts on a table that is busy, or that fails. */
import { type DynamoDBDocumentClient, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import { Overloaded } from '../../service/values/errors.ts';
import { createDeliveryReads } from '../../service/webhooks/delivery-reads.ts';
import { createDeliveryStore } from '../../service/webhooks/delivery-store.ts';
import { fakeClock, stub } from '../api/fakes.ts';
import { accountId, now, seededBytes } from '../fixtures/records.ts';
import { delivery } from './requests/recorder.ts';

const named = (name: string): Error => Object.assign(new Error(name), { name });
const busy = named('ThrottlingException');

/** The store on a table where updates of records and puts of log rows fail so, if at all. */
function storeWhere({ update, put }: { readonly update?: Error; readonly put?: Error }) {
  const rows: unknown[] = [];
  const client = stub<DynamoDBDocumentClient>({
    send: (command: { readonly input: unknown }) => {
      if (command instanceof UpdateCommand && update) return Promise.reject(update);
      if (!(command instanceof PutCommand)) return Promise.resolve({});
      if (put) return Promise.reject(put);
      rows.push(command.input.Item?.['sk']);
      return Promise.resolve({});
    },
  });
  const table = { client, name: 'table', clock: fakeClock(), randomBytes: seededBytes };
  return { store: createDeliveryStore(table), rows };
}
const claim = { delivery, body: '{}', nextAt: now, nowMillis: now };
const row = `DELIVERY#${delivery.startedAt}#${delivery.id}`;

describe('A claim of a webhook attempt', () => {
  it('A claim writes its log row', async () => {
    const { store, rows } = storeWhere({});
    expect([await store.claim(claim), rows]).toEqual([true, [row]]);
  });

  it('A claim on a busy table is not made, and no row is logged', async () => {
    const { store, rows } = storeWhere({ update: busy });
    expect([await store.claim(claim), rows]).toEqual([false, []]);
  });

  it('A claim stands although the table is too busy for its log row', async () => {
    expect(await storeWhere({ put: busy }).store.claim(claim)).toBe(true);
  });

  it('A claim whose log row fails for another reason throws that error', async () => {
    const error = named('AccessDeniedException');
    await expect(storeWhere({ put: error }).store.claim(claim)).rejects.toBe(error);
  });
});

describe('The end of a webhook attempt', () => {
  it('The end of an attempt on a busy table is left to the next claim', async () => {
    const { store, rows } = storeWhere({ update: busy });
    await expect(store.settle(delivery, { status: 'delivered' })).rejects.toThrow(
      new Overloaded('the table stayed busy: the attempt is settled by its next claim'),
    );
    expect(rows).toEqual([]);
  });

  it('The end of an attempt is settled although the table is too busy for its log row', async () => {
    await expect(storeWhere({ put: busy }).store.settle(delivery, { at: now })).resolves.toBeUndefined();
  });
});

describe('A page of the log', () => {
  it('reads at most four pages of the table when a filter finds nothing, and returns the next position', async () => {
    const starts: unknown[] = [];
    const keyOfPage = (number: number) => ({ pk: accountId, sk: `DELIVERY#${now}#page ${number}` });
    const client = stub<DynamoDBDocumentClient>({
      send: ({ input }: { readonly input: { readonly ExclusiveStartKey?: unknown } }) => {
        starts.push(input.ExclusiveStartKey);
        return Promise.resolve({ Items: [], LastEvaluatedKey: keyOfPage(starts.length) });
      },
    });
    const table = { client, name: 'table', clock: fakeClock(), randomBytes: seededBytes };
    const page = await createDeliveryReads(table).page(accountId, { limit: 20, outcome: 'failed' });
    expect(page).toEqual({ deliveries: [], next: 'page 4' });
    expect(starts).toEqual([undefined, ...[1, 2, 3].map(keyOfPage)]);
  });
});

describe('A delivery of the log', () => {
  it.each(['no id', '019aa5a0-1000-4000-8000-000000000001'])(
    'A delivery with the id "%s", which holds no time, is not queried',
    async (id) => {
      const { store } = storeWhere({});
      expect(await store.find(accountId, id)).toBeUndefined();
    },
  );
});
