/** Money moved by an operator while the table loses an answer and then throttles: made once, and told as made. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { connect } from '../../admin/connect.ts';
import type { OperatorServices } from '../../admin/services.ts';
import { asMicros } from '../../core/money.ts';
import { startTestService, type Client, type TestService } from '../fixtures/service.ts';

let service: TestService;
let client: Client;
beforeAll(async () => {
  service = await startTestService();
});
beforeEach(async () => {
  client = await service.client();
});
afterEach(async () => {
  service.machine.faults.clear();
  expect(await service.audit()).toEqual([]);
});
afterAll(() => service.end());

const openingMicros = 25_000_000;
/** The SDK's tries of one call: the first loses its answer, the others are throttled. */
const throttles = 2;

function loseThenThrottle(times = throttles): void {
  const call = { call: 'dynamodb:TransactWriteItems', caller: 'operator' };
  service.machine.faults.set({ ...call, error: 'Timeout', when: 'after', times: 1 });
  service.machine.faults.set({ ...call, error: 'ProvisionedThroughputExceeded', times });
}

/** Operator's services whose transactions have another token at each call, as if DynamoDB had forgotten them: it does so after ten minutes. */
async function forgetful(): Promise<OperatorServices> {
  const services = await connect({ data: service.folder });
  services.table.client.middlewareStack.add(
    (next) => async (args) => {
      delete (args.input as { ClientRequestToken?: string }).ClientRequestToken;
      return next(args);
    },
    { step: 'initialize' },
  );
  return services;
}

describe.each<[string, () => Promise<OperatorServices>]>([
  ['DynamoDB knows the token of the first try', () => connect({ data: service.folder })],
  ['DynamoDB has forgotten the token of the first try', forgetful],
])('after a lost answer and throttles, while %s', (_what, open) => {
  it('a top-up is made once and told as made', async () => {
    const { wallet } = await open();
    loseThenThrottle();
    expect(await wallet.topUp(client.account.id, asMicros(3_000_000), 'invoice-1')).toEqual({
      kind: 'applied',
    });
    expect(service.machine.faults.list()).toEqual([]);
    expect(await service.account(client.account.id)).toMatchObject({
      availableMicros: openingMicros + 3_000_000,
    });
    expect(await wallet.topUp(client.account.id, asMicros(3_000_000), 'invoice-1')).toEqual({
      kind: 'already_applied',
    });
  });

  it('an adjustment is made once, with one ledger row', async () => {
    const { wallet } = await open();
    loseThenThrottle();
    expect(await wallet.adjust(client.account.id, asMicros(-2_000_000), 'test')).toEqual({ kind: 'applied' });
    expect(service.machine.faults.list()).toEqual([]);
    expect(await service.account(client.account.id)).toMatchObject({
      availableMicros: openingMicros - 2_000_000,
    });
    expect((await wallet.ledger(client.account.id)).map(({ kind }) => kind)).toEqual([
      'top_up',
      'adjustment',
    ]);
  });

  it('a credit line is changed once and told as changed', async () => {
    const { wallet } = await open();
    loseThenThrottle();
    expect(await wallet.setCreditLine(client.account.id, asMicros(0), asMicros(7_000_000))).toBe('changed');
    expect(service.machine.faults.list()).toEqual([]);
    expect(await service.account(client.account.id)).toMatchObject({
      availableMicros: openingMicros + 7_000_000,
      creditLineMicros: 7_000_000,
    });
  });

  it('a movement that the table throttles to the end is found in the ledger and told as made', async () => {
    const { wallet } = await open();
    loseThenThrottle(1_000);
    expect(await wallet.topUp(client.account.id, asMicros(3_000_000), 'invoice-1')).toEqual({
      kind: 'applied',
    });
    service.machine.faults.clear();
    expect(await service.account(client.account.id)).toMatchObject({
      availableMicros: openingMicros + 3_000_000,
    });
  });
});

it('a movement whose outcome no answer tells is said to be unknown, unless the ledger has it', async () => {
  const { wallet } = await connect({ data: service.folder });
  service.machine.faults.set({
    call: 'dynamodb:TransactWriteItems',
    caller: 'operator',
    error: 'Timeout',
    when: 'before',
    times: 100,
  });
  await expect(wallet.topUp(client.account.id, asMicros(1), 'lost')).rejects.toMatchObject({
    name: 'OutcomeUnknown',
  });
  service.machine.faults.clear();
  service.machine.faults.set({
    call: 'dynamodb:TransactWriteItems',
    caller: 'operator',
    error: 'Timeout',
    when: 'after',
    times: 100,
  });
  expect(await wallet.topUp(client.account.id, asMicros(1), 'kept')).toEqual({ kind: 'applied' });
});

it('a secret that was replaced although the answer was lost is told as replaced', async () => {
  const { accounts } = await connect({ data: service.folder });
  const { webhookSecrets } = await service.account(client.account.id);
  service.machine.faults.set({
    call: 'dynamodb:UpdateItem',
    caller: 'operator',
    error: 'Timeout',
    when: 'after',
    times: 1,
  });
  const next = [{ sealed: 'v1.x.y.z', issuedAt: 1 }, ...webhookSecrets];
  expect(await accounts.replaceSecrets(client.account.id, webhookSecrets[0], next)).toBe(true);
  expect(
    await accounts.replaceSecrets(client.account.id, webhookSecrets[0], [
      { sealed: 'v1.other', issuedAt: 1 },
    ]),
  ).toBe(false);
});
