/** Creations on the callback machine, over real sockets: the vendor is still polled, and the task has a token. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Execution } from '../../local/step-functions/executions.ts';
import { recordOf, recordWhen, settled, submit } from '../workflow/creations.ts';
import { startTestFleet, type TestFleet } from './fleet.ts';

let fleet: TestFleet;
beforeAll(async () => {
  fleet = await startTestFleet();
});
afterAll(async () => {
  await fleet.end();
});
afterEach(() => {
  fleet.service.machine.faults.clear();
});

/** The executions of a creation, with the name of the machine of each. */
function executionsOf(id: string): readonly (Execution & { readonly machine: string })[] {
  return fleet.service.machine.executions
    .list()
    .filter(({ name }) => name.startsWith(id))
    .map((execution) => ({
      ...execution,
      machine: execution.machineArn.replace(/^.*:stateMachine:/, '').replace(/[0-9A-F]{8}$/, ''),
    }));
}

const enteredStates = (execution: Execution | undefined): unknown[] =>
  (execution?.history ?? []).filter(({ type }) => type === 'StateEntered').map(({ state }) => state);

async function request(vendor: 'fal' | 'bfl', body: Readonly<Record<string, unknown>> = {}): Promise<string> {
  const { key } = await fleet.clientOf(vendor);
  const webhook_url = fleet.service.machine.inboxUrl;
  return submit(fleet.service, key, { model: 'flux-2-pro', prompt: 'a harbour', webhook_url, ...body });
}

const ended = async (id: string): Promise<void> =>
  expect.poll(() => executionsOf(id).map(({ status }) => status)).toEqual(['SUCCEEDED']);

describe('a creation of a vendor that can call back', () => {
  it('The creation runs on the callback machine, in two transitions', async () => {
    const id = await request('fal');
    expect(await settled(fleet.service, id)).toMatchObject({
      machine: 'callback',
      status: 'completed',
      webhook: { status: 'delivered' },
    });
    await ended(id);
    const [execution, ...others] = executionsOf(id);
    expect(others).toEqual([]);
    expect(execution?.machine).toBe('CreationCallbackMachine');
    expect(enteredStates(execution)).toEqual(['RenderImage', 'DeliverWebhook']);
    expect(JSON.parse(execution?.output ?? '')).toEqual({ creation_id: id });
  });

  it('A creation of a vendor that is polled runs on the plain machine', async () => {
    const id = await request('bfl');
    expect(await settled(fleet.service, id)).not.toHaveProperty('machine');
    await ended(id);
    expect(executionsOf(id).map(({ machine }) => machine)).toEqual(['CreationStateMachine']);
  });

  it('A failure of the vendor is refunded on the callback machine', async () => {
    const id = await request('fal', { prompt: 'a harbour [row:prompt-policy]' });
    const record = await settled(fleet.service, id);
    expect(record).toMatchObject({
      status: 'failed',
      machine: 'callback',
      refundedMicros: record.costMicros,
    });
    await ended(id);
    expect(enteredStates(executionsOf(id)[0])).toEqual(['RenderImage', 'RefundCharge', 'DeliverWebhook']);
  });

  it('When the end of the task is lost for good, the next heartbeat ends it, and the webhook follows', async () => {
    const { machine } = fleet.service;
    machine.faults.set({ call: 'states:SendTaskSuccess', error: 'ServiceUnavailable', times: 3 });
    const id = await request('fal');
    await recordWhen(fleet.service, id, ({ status }) => status === 'completed');
    await expect
      .poll(() => fleet.service.log.filter((line) => line.includes('task_not_answered')).join())
      .toContain(id);
    expect((await recordOf(fleet.service, id)).webhook?.status).toBe('pending');
    await machine.advance(62);
    expect((await settled(fleet.service, id)).webhook?.status).toBe('delivered');
    await ended(id);
  });
});
