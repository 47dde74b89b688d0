/** The rows of failures of an endpoint: what begins and ends them, the two notices, and the switch. */
import { describe, expect, it } from 'vitest';
import type { NoticeRecord } from '../../service/notices/notice.ts';
import type { Delivery } from '../../service/webhooks/delivery.ts';
import { noteStreaks } from '../../service/webhooks/endpoint-streak.ts';
import { changed, type Endpoint } from '../../service/webhooks/endpoint.ts';
import type { DeliveryServices } from '../../service/webhooks/open.ts';
import { stub } from '../api/fakes.ts';
import { accountId, anAccount, now, seededBytes } from '../fixtures/records.ts';
import { stage } from './deliver-webhook-fixture.ts';

const day = 86_400_000;
const endpoint: Endpoint = {
  id: 'we_AAAAAAAAAAAAAA' as Endpoint['id'],
  url: 'https://hooks.test/e',
  description: '',
  events: ['creation.completed'],
  enabled: true,
  createdAt: new Date(now - 90 * day).toISOString(),
};

/** Notes one attempt, and gives what was written: the endpoint, and the types of the notices. */
async function after(
  before: Partial<Endpoint>,
  outcome: 'delivered' | 'failed',
  {
    url = endpoint.url,
    noticeUrl = 'https://hooks.test/n',
    refusedWrites = 0,
  }: { url?: string; noticeUrl?: string | null; refusedWrites?: number } = {},
): Promise<{ readonly next: Endpoint | undefined; readonly told: readonly string[] }> {
  let next: Endpoint | undefined;
  let writes = 0;
  const known = { revision: 1, list: [{ ...endpoint, ...before }] };
  const told: NoticeRecord[] = [];
  const { noticeUrl: _own, ...rest } = anAccount();
  const watched = { ...rest, ...(noticeUrl !== null && { noticeUrl }) };
  const { services: staged } = stage();
  const services = {
    ...staged,
    clock: { ...staged.clock, now: () => now },
    randomBytes: seededBytes,
    endpoints: stub<DeliveryServices['endpoints']>({
      read: async () => Promise.resolve(known),
      write: async (_id, _known, list, notices) => {
        writes += 1;
        if (writes <= refusedWrites) return Promise.resolve(false);
        [next] = list;
        told.push(...(notices ?? []));
        return Promise.resolve(true);
      },
    }),
    notices: stub<DeliveryServices['notices']>({
      readSpender: async () => Promise.resolve({ account: watched }),
    }),
    noticeExecutions: { start: async () => Promise.resolve('started' as const) },
  };
  const delivery: Delivery = {
    id: '019aa5a0-1000-7000-8000-00000000000c',
    accountId,
    endpointId: endpoint.id,
    event: 'creation.completed',
    url,
    attempt: 1,
    startedAt: new Date(now).toISOString(),
    outcome,
  };
  await noteStreaks(accountId, known, [delivery], services);
  return { next, told: told.map(({ type }) => type) };
}

describe('the row of failures of an endpoint', () => {
  it('The first failure begins the row, and a delivery ends it with its notice', async () => {
    expect(await after({}, 'failed')).toEqual({ next: { ...endpoint, failingSince: now }, told: [] });
    const failing = { failingSince: now - 2 * day, toldAt: now - day };
    expect(await after(failing, 'delivered')).toEqual({ next: endpoint, told: [] });
  });

  it('Nothing is written for a delivery without a row, a further failure, or an attempt at an earlier address', async () => {
    expect((await after({}, 'delivered')).next).toBeUndefined();
    expect((await after({ failingSince: now - 4 * day + 1 }, 'failed')).next).toBeUndefined();
    expect((await after({}, 'failed', { url: 'https://hooks.test/before' })).next).toBeUndefined();
  });

  it('Four days of failures send one notice, with the endpoint', async () => {
    const failingSince = now - 4 * day;
    expect(await after({ failingSince }, 'failed')).toEqual({
      next: { ...endpoint, failingSince, toldAt: now },
      told: ['endpoint.failing'],
    });
    expect((await after({ failingSince, toldAt: now - 1 }, 'failed')).next).toBeUndefined();
  });

  it('Five days of failures switch the endpoint off, a day after the notice at the earliest', async () => {
    const failing = { failingSince: now - 5 * day, toldAt: now - day };
    expect(await after(failing, 'failed')).toEqual({
      next: { ...endpoint, ...failing, enabled: false, disabledReason: 'failing' },
      told: ['endpoint.disabled'],
    });
    expect((await after({ ...failing, toldAt: now - day + 1 }, 'failed')).next).toBeUndefined();
  });

  it('Up to two writes that others overtook are repeated, and after three nothing is noted', async () => {
    const noted = { next: { ...endpoint, failingSince: now }, told: [] };
    expect(await after({}, 'failed', { refusedWrites: 2 })).toEqual(noted);
    expect(await after({}, 'failed', { refusedWrites: 3 })).toEqual({ next: undefined, told: [] });
  });

  it('An account that gets no notices has its endpoint switched off all the same', async () => {
    const failing = { failingSince: now - 6 * day, toldAt: now - 2 * day };
    const { next, told } = await after(failing, 'failed', { noticeUrl: null });
    expect(next).toMatchObject({ enabled: false, disabledReason: 'failing' });
    expect(told).toEqual([]);
  });

  it('Another address, and switching on again, begin a new row', () => {
    const off = {
      ...endpoint,
      enabled: false,
      disabledReason: 'failing',
      failingSince: 1,
      toldAt: 2,
    } as const;
    expect(changed(off, { enabled: true })).toEqual(endpoint);
    expect(changed({ ...endpoint, failingSince: 1 }, { url: 'https://hooks.test/new' })).toEqual({
      ...endpoint,
      url: 'https://hooks.test/new',
    });
    expect(changed({ ...endpoint, failingSince: 1 }, { description: 'x' })).toMatchObject({
      failingSince: 1,
    });
  });
});
