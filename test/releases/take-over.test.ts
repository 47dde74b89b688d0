/**
 * Two releases work on the same creations, as during and after each deployment. The stored release is the
 * code of a fixed commit (test/fixtures/releases). Each test begins with one release and goes on with the
 * other, in both directions, under the state machine of either.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { CreationRecord } from '../../service/creations/creation.ts';
import { idOf } from '../fixtures/values.ts';
import {
  movementsOf,
  recordOf,
  recordWhen,
  settled,
  submitToAnyRelease as submit,
} from '../whole/workflow/creations.ts';
import { startTwoReleases, type Release, type TwoReleases } from './two-releases.ts';

const commit = '9c400ea';
const directions: readonly { from: Release; to: Release }[] = [
  { from: 'stored', to: 'today' },
  { from: 'today', to: 'stored' },
];

describe.each<{ definition: Release }>([{ definition: 'today' }, { definition: 'stored' }])(
  'under the state machine of $definition',
  ({ definition }) => {
    let two: TwoReleases;
    beforeAll(async () => {
      two = await startTwoReleases({ commit, definition });
    });
    afterEach(() => {
      two.service.machine.faults.clear();
      two.service.machine.interceptAws((_call, serve) => serve());
      two.vendor.mood.isReady = false;
    });
    afterAll(async () => {
      // The last creation may still be ending. Then the audit reads its account and its record apart.
      await vi.waitFor(async () => expect(await two.service.audit()).toEqual([]), { timeout: 60_000 });
      await two.end();
    });

    const vendorOrder = async (prompt: string, webhook_url?: string): Promise<string> => {
      const { key } = await two.vendorClient();
      return submit(two.service, key, {
        model: 'flux-2-pro',
        prompt,
        ...(webhook_url !== undefined && { webhook_url }),
      });
    };
    const hasJob = ({ attempts }: CreationRecord): boolean => attempts[0]?.jobId !== undefined;
    const executionsOf = (id: string): string[] =>
      two.service.machine.executions
        .list()
        .filter(({ name }) => name.startsWith(id))
        .map(({ status }) => status);
    /** The kinds of the movements, once everything is at rest. */
    const movements = async (id: string): Promise<string[]> =>
      movementsOf(two.service, await recordOf(two.service, id));

    describe.each(directions)('from $from to $to', ({ from, to }) => {
      it('A job that one release submitted is polled and delivered by the other, and the vendor gets no second job', async () => {
        const { service, vendor, receiver } = two;
        const prompt = `a harbour, ${from} to ${to}`;
        two.use(from);
        const id = await vendorOrder(prompt, receiver.hook(`job-${from}`, 200));
        await recordWhen(service, id, hasJob);
        two.use(to);
        expect(await two.crash('RenderImage', id)).toBe(1);
        vendor.mood.isReady = true;
        await service.machine.advance(30);
        expect(await settled(service, id)).toMatchObject({
          status: 'completed',
          webhook: { status: 'delivered' },
        });
        expect([vendor.jobsFor(prompt), await movements(id)]).toEqual([1, ['charge']]);
        expect(receiver.arrivals(`job-${from}`)).toHaveLength(1);
      });

      it('A picture that one release rendered and announced in vain is announced by the other, with the same bytes', async () => {
        const { service, receiver } = two;
        two.use(from);
        const { key } = await service.client();
        const name = `webhook-${from}`;
        const id = await submit(service, key, {
          prompt: 'a lake',
          webhook_url: receiver.hook(name, 503, 200),
        });
        await recordWhen(service, id, ({ webhook }) => webhook?.attempts === 1 && webhook.body !== undefined);
        await receiver.until(name, 1);
        two.use(to);
        await service.machine.advance(75);
        expect(await settled(service, id)).toMatchObject({
          status: 'completed',
          webhook: { status: 'delivered', attempts: 2 },
        });
        const [first, second, ...more] = receiver.arrivals(name);
        expect(second?.raw).toEqual(first?.raw);
        expect(more).toEqual([]);
        expect(await movements(id)).toEqual(['charge']);
      });

      it.each([{ written: true }, { written: false }])(
        'A refund in whose middle one release dies is made once by the other (written: $written)',
        async ({ written }) => {
          const { service, receiver } = two;
          two.use(from);
          const { key } = await service.client();
          const name = `refund-${from}-${written}`;
          const reached = Promise.withResolvers<undefined>();
          service.machine.interceptAws(async (call, serve) => {
            if (!call.caller.startsWith('RefundCharge') || call.operation !== 'TransactWriteItems')
              return serve();
            if (written) await serve();
            reached.resolve(undefined);
            return new Promise(() => undefined);
          });
          const id = await submit(service, key, {
            prompt: 'a lake [sandbox:fail]',
            webhook_url: receiver.hook(name, 200),
          });
          await reached.promise;
          two.use(to);
          service.machine.interceptAws((_call, serve) => serve());
          expect(await two.crash('RefundCharge', id)).toBe(1);
          await service.machine.advance(30);
          expect(await settled(service, id)).toMatchObject({
            status: 'failed',
            webhook: { status: 'delivered' },
          });
          expect(await movements(id)).toEqual(['charge', 'refund']);
          expect(receiver.arrivals(name)).toHaveLength(1);
        },
      );

      // The rest does not depend on the text of the state machine.
      if (definition === 'stored') return;

      it('A second execution of the other release waits while an invocation of the first one holds the lease', async () => {
        const { service, vendor, receiver } = two;
        const prompt = `a lighthouse, ${from} to ${to}`;
        two.use(from);
        const id = await vendorOrder(prompt, receiver.hook(`lease-${from}`, 200));
        const creation = await recordWhen(service, id, hasJob);
        two.use(to);
        const refused = Promise.withResolvers<undefined>();
        service.machine.interceptAws(async (call, serve) => {
          try {
            return await serve();
          } catch (error) {
            if (call.caller.startsWith('RenderImage') && call.operation === 'UpdateItem')
              refused.resolve(undefined);
            throw error;
          }
        });
        await service.operator.openWork.noteStart(creation, service.machine.clock.now() + 60_000, 2);
        expect(await service.operator.executions.start(creation, 2)).toBe('started');
        await refused.promise;
        expect((await recordOf(service, id)).lease?.holder).toBe(creation.lease?.holder);
        vendor.mood.isReady = true;
        expect(await settled(service, id)).toMatchObject({
          status: 'completed',
          webhook: { status: 'delivered' },
        });
        await service.machine.advance(10);
        expect([vendor.jobsFor(prompt), await movements(id)]).toEqual([1, ['charge']]);
        expect(receiver.arrivals(`lease-${from}`)).toHaveLength(1);
        await expect.poll(() => executionsOf(id)).toEqual(['SUCCEEDED', 'SUCCEEDED']);
      });

      it('A creation that one release accepted and could not start is started by the reconciler of the other', async () => {
        const { service, receiver } = two;
        two.use(from);
        const { key } = await service.client();
        service.machine.faults.set({ call: 'states:StartExecution', error: 'Throttling', every: 1 });
        const id = await submit(service, key, {
          prompt: 'a lake',
          webhook_url: receiver.hook(`start-${from}`, 200),
        });
        service.machine.faults.clear();
        expect(executionsOf(id)).toEqual([]);
        two.use(to);
        await service.machine.advance(120);
        expect(await settled(service, id)).toMatchObject({
          status: 'completed',
          webhook: { status: 'delivered' },
        });
        expect([executionsOf(id), await movements(id)]).toEqual([['SUCCEEDED'], ['charge']]);
      });

      it('The reconciler of the other release starts no second execution beside one that runs', async () => {
        const { service } = two;
        two.use(from);
        const { key } = await service.client();
        const held = Promise.withResolvers<undefined>();
        const asked: string[] = [];
        service.machine.interceptAws(async (call, serve) => {
          if (call.caller.startsWith('RenderImage')) await held.promise;
          if (call.operation === 'StartExecution') asked.push(`${call.caller} ${String(call.input['name'])}`);
          return serve();
        });
        const id = await submit(service, key, { prompt: 'a lake' });
        const { dueAt } = await recordOf(service, id);
        two.use(to);
        // The end of any execution that names the creation lets the reconciler check the creation at once.
        const probe = `probe-${id}`;
        const states = (operation: string, input: Record<string, unknown>): Promise<unknown> =>
          service.machine.aws({ service: 'states', operation, caller: 'operator', input });
        const [machine] = service.machine.template.stateMachines;
        const input = JSON.stringify({ creation_id: id });
        await states('StartExecution', { stateMachineArn: machine?.arn, name: probe, input });
        const executionArn = `${machine?.arn.replace(':stateMachine:', ':execution:')}:${probe}`;
        await states('StopExecution', { executionArn });
        await recordWhen(service, id, (creation) => creation.dueAt !== dueAt);
        expect(asked.filter((one) => one.startsWith('Reconcile'))).toEqual([
          expect.stringMatching(new RegExp(`^Reconcile\\w+ ${id}$`)),
        ]);
        expect(executionsOf(id)).toEqual(['RUNNING']);
        held.resolve(undefined);
        expect(await settled(service, id)).toMatchObject({ status: 'completed', executions: 1 });
        await service.machine.advance(10);
        expect([executionsOf(id), await movements(id)]).toEqual([['SUCCEEDED'], ['charge']]);
      });

      it('A request that is repeated at the other release finds the creation of the first one', async () => {
        const { service } = two;
        two.use(from);
        const { key } = await service.client();
        const sent = {
          key,
          headers: { 'idempotency-key': `again-${from}` },
          body: { model: 'sandbox-sketch', prompt: 'a lake' },
        };
        const by = (release: Release) => ({ ...sent, isOfOlderRelease: release === 'stored' });
        const first = await service.send('/images/generate', by(from));
        two.use(to);
        const again = await service.send('/images/generate', by(to));
        expect([first.status, again.status]).toEqual([202, 202]);
        expect(idOf(again)).toBe(idOf(first));
      });
    });
  },
);
