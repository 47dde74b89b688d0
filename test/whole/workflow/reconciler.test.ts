/** The reconciler: whatever happened to its execution, each creation ends, and its money is right. */
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { sharedTestService } from '../../fixtures/service.ts';
import { creationIdIn } from '../../fixtures/values.ts';
import { movementsOf, recordOf, recordWhen, settled, submit } from './creations.ts';
import { startReceiver } from './receiver.ts';

const [service, receiver] = await Promise.all([sharedTestService(), startReceiver()]);
afterEach(async () => {
  service.machine.faults.clear();
  service.machine.interceptAws((_call, serve) => serve());
  expect(await service.audit()).toEqual([]);
});
afterAll(async () => {
  await receiver.close();
  await service.end();
});

const openingMicros = 25_000_000;
const always = { every: 1 } as const;

const eventsAt = (hook: string): string[] =>
  receiver.arrivals(hook).map(({ headers }) => headers['x-webhook-event'] ?? '');

/** Each execution of a creation with its status, in the order of their starts. */
const executionsOf = (id: string): string[] =>
  service.machine.executions
    .list()
    .filter(({ name }) => name.startsWith(id))
    .map(({ name, status }) => `${name.slice(id.length) || '-1'} ${status}`);

async function stopExecution(id: string): Promise<void> {
  const executionArn = service.machine.executions.list().find(({ name }) => name === id)?.arn;
  await service.machine.aws({
    service: 'states',
    operation: 'StopExecution',
    caller: 'operator',
    input: { executionArn },
  });
}

describe('an execution that could not be started', () => {
  it('A creation whose start was throttled is accepted, and the reconciler starts it within two minutes', async () => {
    const { key } = await service.client();
    service.machine.faults.set({ call: 'states:StartExecution', error: 'Throttling', ...always });
    const id = await submit(service, key, { prompt: 'a lake', webhook_url: receiver.hook('throttled', 200) });
    service.machine.faults.clear();
    expect((await recordOf(service, id)).status).toBe('queued');
    expect(executionsOf(id)).toEqual([]);

    await service.machine.advance(120);
    expect(await recordOf(service, id)).toMatchObject({ recoveries: 1 });
    const record = await settled(service, id);
    expect(record).toMatchObject({ status: 'completed', recoveries: 1 });
    expect(await movementsOf(service, record)).toEqual(['charge']);
    expect(eventsAt('throttled')).toEqual(['creation.completed']);
  });

  it('A creation whose start lost its answer is not started twice', async () => {
    const { key } = await service.client();
    service.machine.faults.set({ call: 'states:StartExecution', error: 'Timeout', when: 'after', ...always });
    const id = await submit(service, key, { prompt: 'a lake', webhook_url: receiver.hook('unclear', 200) });
    service.machine.faults.clear();
    const record = await settled(service, id);
    await service.machine.advance(180);
    expect(executionsOf(id)).toEqual(['-1 SUCCEEDED']);
    expect(await movementsOf(service, record)).toEqual(['charge']);
    expect(eventsAt('unclear')).toEqual(['creation.completed']);
  });
});

describe('an execution that was aborted', () => {
  it('An execution that was aborted before its rendering began is followed by another one at once', async () => {
    const { key } = await service.client();
    // The execution is aborted between its start and the answer to the start. Its invocation comes late.
    const restarted = Promise.withResolvers<undefined>();
    service.machine.interceptAws(async (call, serve) => {
      if (call.caller.startsWith('RenderImage')) await restarted.promise;
      const answer = await serve();
      if (call.operation !== 'StartExecution') return answer;
      if (call.caller.startsWith('GenerateImage')) await stopExecution(String(call.input['name']));
      else restarted.resolve(undefined);
      return answer;
    });
    // The clock stands still, so that the times of the creation contain no real seconds.
    service.machine.clock.freeze();
    const id = await submit(service, key, {
      prompt: 'a lake',
      webhook_url: receiver.hook('aborted-queued', 200),
    });
    await service.machine.advance(180);
    const record = await settled(service, id);
    expect(record).toMatchObject({
      status: 'completed',
      recoveries: 1,
      attempts: [{ provider: 'sandbox', outcome: 'rendered' }],
    });
    expect(Date.parse(record.completedAt ?? '') - Date.parse(record.createdAt)).toBeLessThan(10_000);
    expect(executionsOf(id)).toEqual(['-1 ABORTED', '-2 SUCCEEDED']);
    expect(await movementsOf(service, record)).toEqual(['charge']);
    expect(eventsAt('aborted-queued')).toEqual(['creation.completed']);
  });

  it('An execution that was aborted during its rendering leaves the rendering to finish, and the reconciler sends the webhook', async () => {
    const { key } = await service.client();
    const id = await submit(service, key, {
      prompt: 'a lake [sandbox:delay=1s]',
      webhook_url: receiver.hook('aborted-rendering', 200),
    });
    await recordWhen(service, id, ({ attempts }) => attempts.length === 1);
    await stopExecution(id);
    await service.machine.advance(180);
    const record = await settled(service, id);
    expect(record).toMatchObject({
      status: 'completed',
      attempts: [{ provider: 'sandbox', outcome: 'rendered' }],
    });
    expect(executionsOf(id)).toEqual(['-1 ABORTED', '-2 SUCCEEDED']);
    expect(await movementsOf(service, record)).toEqual(['charge']);
    expect(eventsAt('aborted-rendering')).toEqual(['creation.completed']);
  });
});

describe('a creation past its deadline', () => {
  it('A creation whose execution is stuck is refunded as GenerationTimedOut by the reconciler, and announced once', async () => {
    const { account, key } = await service.client({ deadline: '30' });
    // An invocation hangs and holds its lease for longer than the creation has time.
    service.machine.interceptAws(async (call, serve) => {
      if (call.operation === 'StartExecution' && call.caller.startsWith('GenerateImage')) {
        const now = service.machine.clock.now();
        await service.operator.creations.lease(
          creationIdIn(call.input['name']),
          'an invocation that hangs',
          now + 3_600_000,
          now,
        );
      }
      return serve();
    });
    const id = await submit(service, key, { prompt: 'a lake', webhook_url: receiver.hook('stuck', 200) });
    await service.machine.advance(180);
    const record = await settled(service, id);
    expect(record).toMatchObject({
      status: 'failed',
      failure: 'GenerationTimedOut',
      refundedMicros: 10_000,
      attempts: [],
    });
    expect(await movementsOf(service, record)).toEqual(['charge', 'refund']);
    expect(await service.account(account.id)).toMatchObject({ availableMicros: openingMicros, inFlight: 0 });
    expect(eventsAt('stuck')).toEqual(['creation.failed']);
    const polled = await service.send(`/creations/${id}`, { key });
    expect(polled.body).toMatchObject({ error: 'Generation timed out.', retryable: true });
    expect(
      service.log.some((line) => line.includes('creation_past_deadline') && line.includes('"level":"alarm"')),
    ).toBe(true);
  });
});
