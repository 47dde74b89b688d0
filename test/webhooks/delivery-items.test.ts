/** The row of an attempt: what it costs, and what it keeps of the receiver's answer. */
import { marshall } from '@aws-sdk/util-dynamodb';
import { describe, expect, it } from 'vitest';
import { itemBytes, itemOf } from '../../lab/cost/units.ts';
import { logRow } from '../../service/webhooks/delivery-store.ts';
import type { Delivery } from '../../service/webhooks/delivery.ts';
import { accountId, creationId } from '../fixtures/records.ts';

const delivery: Delivery = {
  id: '019aa5a0-2000-7000-8000-00000000000b',
  accountId,
  creationId,
  event: 'creation.completed',
  url: 'https://hooks.studio.example/darkroom/webhooks',
  attempt: 1,
  startedAt: '2026-11-21T12:00:30.000Z',
  outcome: 'delivered',
  status: 200,
  millis: 12_345,
  signedAt: 1_763_726_434,
  cuts: { current: 'abcd', previous: 'abcd', standard: ['abcd', 'abcd'] },
  responseExcerpt: 'ü'.repeat(512),
  responseHeaders: Object.fromEntries(
    Array.from({ length: 16 }, (_, number) => [`x-header-${number}`, 'v'.repeat(40)]),
  ),
};
const bytesOf = (change: Partial<Delivery>): number =>
  itemBytes(itemOf(marshall(logRow({ ...delivery, ...change }))));

describe('the row of an attempt', () => {
  it('A delivered attempt is one write unit, whatever the receiver answers', () => {
    expect(bytesOf({})).toBeLessThanOrEqual(1_024);
    expect(bytesOf({})).toBeGreaterThan(960);
    expect(bytesOf({ responseHeaders: {} })).toBeLessThanOrEqual(1_024);
    expect(bytesOf({ responseExcerpt: '' })).toBeLessThanOrEqual(1_024);
  });

  it.each([0, 100, 360, 400, 440, 480, 520, 1_000, 1_900])(
    'An address with %i characters more gives no unit to the answer',
    (more) => {
      const change = { url: `${delivery.url}/${'p'.repeat(more)}` };
      const bare = bytesOf({ ...change, responseExcerpt: '', responseHeaders: {} });
      expect(Math.ceil(bytesOf(change) / 1_024)).toBe(Math.ceil(bare / 1_024));
    },
  );

  it('A delivered attempt keeps the first headers and the beginning of the body', () => {
    const { responseHeaders, responseExcerpt } = logRow(delivery) as unknown as Delivery;
    expect(Object.keys(responseHeaders ?? {})).toEqual([
      'x-header-0',
      'x-header-1',
      'x-header-2',
      'x-header-3',
    ]);
    expect(responseExcerpt).toMatch(/^ü{50,}$/);
  });

  it('A failed attempt keeps everything that was given', () => {
    expect(logRow({ ...delivery, outcome: 'failed' })).toMatchObject({
      responseExcerpt: delivery.responseExcerpt,
      responseHeaders: delivery.responseHeaders,
    });
  });
});
