/**
 * The table that a stored release left, read by the code of today and by its own: every creation comes to its
 * end, no picture is rendered twice, and the books balance. Records of an unknown later release are left alone.
 */
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, describe, expect, it } from 'vitest';
import { issueSecret } from '../../admin/commands/webhooks.ts';
import { keys } from '../../service/aws/dynamodb/table.ts';
import type { AccountId } from '../../service/values/ids.ts';
import { creationIdIn } from '../fixtures/values.ts';
import {
  movementsOf,
  recordOf,
  recordWhen,
  settled,
  submitToAnyRelease as submit,
} from '../whole/workflow/creations.ts';
import { statesLeft } from './each-state.ts';
import { openStoredRelease, type Release, startTwoReleases, type TwoReleases } from './two-releases.ts';

const commit = '9c400ea';
const running: TwoReleases[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((two) => two.end()));
});

async function start(folder?: string, definition: Release = 'today'): Promise<TwoReleases> {
  const two = await startTwoReleases({
    commit,
    definition,
    ...(folder !== undefined && { folder }),
  });
  running.push(two);
  return two;
}

/** The ids of the stored creations, by their prompts. */
async function loadStoredTable(
  release: Release,
): Promise<{ two: TwoReleases; ids: ReadonlyMap<string, string> }> {
  const stored = await openStoredRelease(commit);
  const { at } = stored.left({ vendor: '', receiver: '' });
  await stored.remove();
  const folder = await mkdtemp(join(tmpdir(), 'darkroom-stored-'));
  // The clock goes on where the table was read.
  await writeFile(
    join(folder, 'clock.json'),
    JSON.stringify({ offset_millis: Math.floor(at - Date.now()), seen_at: at }),
  );
  const two = await start(folder, release);
  two.use(release);
  const { machine, operator } = two.service;
  const receiver = new URL(two.receiver.hook('any', 200)).origin;
  for (const name of ['announcing', 'queued']) two.receiver.hook(name, 200);
  const { items } = two.stored.left({ vendor: two.vendor.url, receiver });
  for (const Item of items)
    await machine.aws({
      service: 'dynamodb',
      operation: 'PutItem',
      caller: 'operator',
      // The secrets were sealed under the encryption secret of another machine.
      input: {
        TableName: operator.table.name,
        Item: 'webhookSecrets' in Item ? { ...Item, webhookSecrets: { L: [] } } : Item,
      },
    });
  for (const { sk, id } of items)
    if (sk?.['S'] === 'ACCOUNT')
      await issueSecret(operator, await two.service.account(String(id?.['S']) as AccountId));
  const creations = items.filter(({ sk }) => sk?.['S'] === 'CREATION');
  return {
    two,
    ids: new Map(creations.map(({ prompt, id }) => [String(prompt?.['S']), String(id?.['S'])])),
  };
}

describe.each<{ release: Release }>([{ release: 'today' }, { release: 'stored' }])(
  'the table of the stored release, under the code and the state machine of $release',
  ({ release }) => {
    it('Each creation comes to its end, the job of the vendor is polled and not repeated, and the books balance', async () => {
      const { two, ids } = await loadStoredTable(release);
      const { service, vendor, receiver } = two;
      const idOf = (state: keyof typeof statesLeft): string => ids.get(statesLeft[state]) ?? '';
      expect([...ids.keys()].sort()).toEqual(Object.values(statesLeft).sort());
      vendor.mood.isReady = true;
      await service.machine.advance(180);
      const outcomes = await Promise.all(
        Object.keys(statesLeft).map(async (state) => {
          const record = await settled(service, idOf(state as keyof typeof statesLeft));
          return [state, record.status, record.webhook?.status, await movementsOf(service, record)];
        }),
      );
      expect(outcomes).toEqual([
        ['completed', 'completed', 'delivered', ['charge']],
        ['failed', 'failed', 'delivered', ['charge', 'refund']],
        ['announcing', 'completed', 'delivered', ['charge']],
        ['polled', 'completed', undefined, ['charge']],
        // The vendor may have rendered and billed it, so nobody asks again.
        ['called', 'failed', undefined, ['charge', 'refund']],
        ['queued', 'completed', 'delivered', ['charge']],
      ]);
      for (const prompt of Object.values(statesLeft)) expect(vendor.jobsFor(prompt)).toBe(0);
      expect([receiver.arrivals('announcing').length, receiver.arrivals('queued').length]).toEqual([1, 1]);
      expect(await service.audit()).toEqual([]);
    });
  },
);

describe('a creation of a release that this code does not understand', () => {
  it('Such a creation is not rendered, refunded or announced, an alarm names it, and it ends as soon as the code understands it', async () => {
    const two = await start();
    const { service, vendor, receiver } = two;
    const { operator, machine } = service;
    const setVersion = (id: string, v: number): Promise<unknown> =>
      operator.table.client.send(
        new UpdateCommand({
          TableName: operator.table.name,
          Key: keys.creation(creationIdIn(id)),
          UpdateExpression: 'SET v = :v',
          ExpressionAttributeValues: { ':v': v },
        }),
      );
    const { key } = await two.vendorClient();
    const order = { model: 'flux-2-pro', prompt: 'a pier', webhook_url: receiver.hook('newer', 503, 200) };
    // One waits for its vendor, one for its webhook, and one for its start.
    const rendering = await submit(service, key, order);
    await recordWhen(service, rendering, ({ attempts }) => attempts[0]?.jobId !== undefined);
    const sandboxed = await service.client();
    const announcing = await submit(service, sandboxed.key, {
      prompt: 'a lake',
      webhook_url: order.webhook_url,
    });
    await recordWhen(
      service,
      announcing,
      ({ webhook }) => webhook?.attempts === 1 && webhook.body !== undefined,
    );
    machine.faults.set({ call: 'states:StartExecution', error: 'Throttling', every: 1 });
    const waiting = await submit(service, sandboxed.key, { prompt: 'a hill' });
    machine.faults.clear();
    const all = [rendering, announcing, waiting];
    for (const id of all) await setVersion(id, 2);
    expect(await two.crash('RenderImage', rendering)).toBe(1);
    // Past every deadline.
    await machine.advance(420);
    for (const id of all) {
      expect(await movementsOf(service, await recordOf(service, id))).toEqual(['charge']);
      expect(
        service.log.some(
          (line) => line.includes('"reconcile_failed"') && line.includes(id) && line.includes('NewerRelease'),
        ),
      ).toBe(true);
    }
    expect([(await recordOf(service, rendering)).status, (await recordOf(service, waiting)).status]).toEqual([
      'processing',
      'queued',
    ]);
    expect([vendor.jobsFor(order.prompt), receiver.arrivals('newer').length]).toEqual([1, 1]);
    for (const id of all) await setVersion(id, 1);
    await machine.advance(600);
    // The deadlines are over: the two that were not rendered are refunded, and the webhook is delivered.
    expect(await settled(service, rendering)).toMatchObject({
      status: 'failed',
      failure: 'GenerationTimedOut',
    });
    expect(await settled(service, waiting)).toMatchObject({
      status: 'failed',
      failure: 'GenerationTimedOut',
    });
    expect(await settled(service, announcing)).toMatchObject({ webhook: { status: 'delivered' } });
    expect(await service.audit()).toEqual([]);
  });
});
