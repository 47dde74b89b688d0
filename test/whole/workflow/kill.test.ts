/**
 * kill -9 at the worst moments: after a restart every creation ends, and is charged once or refunded once.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Difference } from '../../../service/audit/books.ts';
import type { CreationRecord } from '../../../service/creations/creation.ts';
import { differencesIn } from '../../fixtures/books.ts';
import { type ChildService, post, startChild } from './child-service.ts';
import { movementsOf, recordOf, recordWhen, settled, submit } from './creations.ts';
import { startReceiver } from './receiver.ts';

const children: ChildService[] = [];
const receiver = await startReceiver();
const parent = await mkdtemp(join(tmpdir(), 'darkroom-kill-'));
afterAll(async () => {
  await Promise.all(children.map((child) => child.kill()));
  await receiver.close();
  await rm(parent, { recursive: true, force: true });
});

const newFolder = (): Promise<string> => mkdtemp(join(parent, 'data-'));

async function start(folder: string): Promise<ChildService> {
  const child = await startChild(folder);
  children.push(child);
  return child;
}

const audit = async ({ operator }: ChildService): Promise<Difference[]> => differencesIn(operator.table);

const eventsAt = (hook: string): string[] =>
  receiver.arrivals(hook).map(({ headers }) => headers['x-webhook-event'] ?? '');

describe('kill -9', () => {
  it('After a kill between charge and start, the reconciler starts the creation, and the client that lost its answer gets that creation', async () => {
    const folder = await newFolder();
    const first = await start(folder);
    await post(`${first.localUrl}/faults`, { call: 'states:StartExecution', error: 'kill' });
    const request = (service: ChildService): Promise<Response> =>
      fetch(`${service.machine.apiUrl}/images/generate`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${service.key}`,
          'content-type': 'application/json',
          'idempotency-key': 'lost',
        },
        body: JSON.stringify({
          model: 'sandbox-sketch',
          prompt: 'a lake',
          webhook_url: receiver.hook('unstarted', 200),
        }),
      });
    await expect(request(first)).rejects.toThrow('fetch failed');
    await first.died();

    const second = await start(folder);
    const charged = (await second.operator.wallet.ledger(second.accountId)).filter(
      (row) => row.kind === 'charge',
    );
    expect(charged).toHaveLength(1);
    const id = charged[0]?.creationId ?? '';
    expect(await recordOf(second, id)).toMatchObject({ status: 'queued', attempts: [] });
    await second.advance(120);
    const record = await settled(second, id);
    expect(record).toMatchObject({ status: 'completed', refundedMicros: 0, recoveries: 1 });
    expect(eventsAt('unstarted')).toEqual(['creation.completed']);

    const again = await request(second);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(await again.json()).toMatchObject({ id, status: 'completed' });
    expect(await movementsOf(second, record)).toEqual(['charge']);
    expect(await audit(second)).toEqual([]);
  });

  describe('during renderings, and between and within webhook attempts', () => {
    let first: ChildService;
    let second: ChildService;
    let killedAt: string;
    const send = (hook: string, statuses: readonly number[], body: object): Promise<string> =>
      submit(first, first.key, { ...body, webhook_url: receiver.hook(hook, ...statuses) });
    /** The creations, by their hooks. */
    const ids: Record<string, string> = {};
    let begun: readonly CreationRecord[];
    beforeAll(async () => {
      const folder = await newFolder();
      first = await start(folder);
      ids['interrupted'] = await send('interrupted', [500], { prompt: 'a lake' });
      await receiver.until('interrupted', 1);
      await first.advance(61);
      expect((await recordOf(first, ids['interrupted'])).webhook).toMatchObject({
        status: 'pending',
        attempts: 2,
      });
      killedAt = await first.advance(30);
      // The service is killed during this attempt, whose answer never comes: its outcome stays unknown.
      ids['in-its-middle'] = await send('in-its-middle', [0, 200], { prompt: 'a lake' });
      await receiver.until('in-its-middle', 1);
      // A crash plays a vendor, whose lost call may have been billed.
      const lost = 'a lake [sandbox:delay=3s] [sandbox:crash=sandbox]';
      ids['one-route'] = await send('one-route', [200], { prompt: lost });
      const pro = { model: 'sandbox-pro', resolution: '2K', prompt: lost };
      ids['two-routes'] = await send('two-routes', [200], pro);
      ids['sandbox'] = await send('sandbox', [200], { prompt: 'a lake [sandbox:delay=3s]' });
      ids['async'] = await send('async', [200], { prompt: 'a lake [sandbox:async=2s]' });
      begun = await Promise.all([
        recordWhen(first, ids['one-route'], ({ attempts }) => attempts.length === 1),
        recordWhen(first, ids['two-routes'], ({ attempts }) => attempts.length === 1),
        recordWhen(first, ids['async'], ({ attempts }) => attempts[0]?.jobId !== undefined),
        recordWhen(first, ids['sandbox'], ({ attempts }) => attempts.length === 1),
      ]);
      await first.kill();
      expect(new Set(begun.map(({ status }) => status))).toEqual(new Set(['processing']));
      second = await start(folder);
    });

    it('After a kill during renderings, none is repeated at a vendor: each is resumed, rendered elsewhere or refunded, and the sandbox renders again', async () => {
      const failed = await settled(second, ids['one-route'] ?? '');
      expect(failed).toMatchObject({
        status: 'failed',
        failure: 'InternalFailure',
        refundedMicros: 10_000,
        attempts: [{ provider: 'sandbox' }],
      });
      expect(failed.attempts[0]).toEqual({ ...begun[0]?.attempts[0], outcome: 'unknown_outcome' });
      expect(await movementsOf(second, failed)).toEqual(['charge', 'refund']);

      const rendered = await settled(second, ids['two-routes'] ?? '');
      expect(rendered).toMatchObject({
        status: 'completed',
        attempts: [
          { provider: 'sandbox', outcome: 'unknown_outcome' },
          { provider: 'sandbox-large', outcome: 'rendered' },
        ],
      });
      expect(await movementsOf(second, rendered)).toEqual(['charge']);

      const completed = await settled(second, ids['async'] ?? '');
      expect(completed).toMatchObject({
        status: 'completed',
        attempts: [{ ...begun[2]?.attempts[0], outcome: 'rendered' }],
      });
      expect(await movementsOf(second, completed)).toEqual(['charge']);

      const repeated = await settled(second, ids['sandbox'] ?? '');
      expect(repeated).toMatchObject({
        status: 'completed',
        attempts: [{ ...begun[3]?.attempts[0], outcome: 'rendered' }],
      });
      expect(await movementsOf(second, repeated)).toEqual(['charge']);

      expect(['one-route', 'two-routes', 'async', 'sandbox'].map(eventsAt)).toEqual([
        ['creation.failed'],
        ['creation.completed'],
        ['creation.completed'],
        ['creation.completed'],
      ]);
      expect(await second.operator.accounts.read(second.accountId)).toMatchObject({
        inFlight: 0,
        availableMicros: 25_000_000 - 120_000 - 4 * 10_000,
      });
    });

    it('After a kill between and within webhook attempts, none is repeated and none comes early, the clock and the account stay, and the demo key changes', async () => {
      expect(second.accountId).toBe(first.accountId);
      const withKey = async (key: string): Promise<number> =>
        (await fetch(`${second.machine.apiUrl}/models`, { headers: { authorization: `Bearer ${key}` } }))
          .status;
      expect([await withKey(first.key), await withKey(second.key)]).toEqual([401, 200]);
      const { now } = (await (await fetch(`${second.localUrl}/state`)).json()) as { now: string };
      expect(Date.parse(now)).toBeGreaterThanOrEqual(Date.parse(killedAt));
      // This is some 45 s after attempt 2, which is followed by a wait of 120 s. The restart takes real time
      // too.
      await second.advance(10);
      expect(receiver.arrivals('interrupted')).toHaveLength(2);
      expect(receiver.arrivals('in-its-middle')).toHaveLength(1);
      await second.advance(7_200);

      const arrivals = receiver.arrivals('interrupted');
      expect(arrivals.map(({ headers }) => headers['x-webhook-attempt'])).toEqual(['1', '2', '3', '4', '5']);
      expect(new Set(arrivals.map(({ raw }) => String(raw)))).toHaveLength(1);
      const times = arrivals.map(({ headers }) => Number(headers['x-timestamp']));
      const waits = times.slice(1).map((time, index) => time - (times[index] ?? 0));
      // The reconciler takes each attempt up within two minutes of its time.
      [60, 120, 240, 480].forEach((wait, index) => {
        expect(waits[index]).toBeGreaterThanOrEqual(wait);
        expect(waits[index]).toBeLessThanOrEqual(wait + 120);
      });
      const [attempt, next, ...more] = receiver.arrivals('in-its-middle').map(({ headers }) => headers);
      expect([attempt?.['x-webhook-attempt'], next?.['x-webhook-attempt'], more]).toEqual(['1', '2', []]);
      // The next attempt comes 60 s after the 10 s that the first attempt had.
      expect(Number(next?.['x-timestamp']) - Number(attempt?.['x-timestamp'])).toBeGreaterThanOrEqual(70);
      expect((await recordOf(second, ids['in-its-middle'] ?? '')).webhook).toMatchObject({
        status: 'delivered',
        attempts: 2,
      });

      const record = await recordOf(second, ids['interrupted'] ?? '');
      expect(record.webhook).toMatchObject({ status: 'failed', attempts: 5 });
      expect(await movementsOf(second, record)).toEqual(['charge']);
      expect(await audit(second)).toEqual([]);
    });
  });
});
