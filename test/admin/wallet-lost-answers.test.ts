/**
 * The table loses an answer to an operator's command and then throttles. The command still takes effect once.
 */
import { afterEach, describe, expect, it } from 'vitest';
import { connect } from '../../admin/connect.ts';
import type { OperatorServices } from '../../admin/services.ts';
import { asMicros } from '../../service/values/money.ts';
import { startTestService } from '../fixtures/service.ts';
import { useOperatedService } from './operated-service.ts';

const operated = useOperatedService(startTestService);
afterEach(async () => {
  operated.service.machine.faults.clear();
  expect(await operated.service.audit()).toEqual([]);
});

const openingMicros = 25_000_000;
/**
 * The SDK tries a call three times. The first try loses its answer, and the table throttles the other two.
 */
const throttles = 2;

function loseThenThrottle(times = throttles): void {
  const call = { call: 'dynamodb:TransactWriteItems', caller: 'operator' };
  operated.service.machine.faults.set({ ...call, error: 'Timeout', when: 'after', times: 1 });
  operated.service.machine.faults.set({ ...call, error: 'ProvisionedThroughputExceeded', times });
}

/**
 * The operator's services without tokens in their transactions, so that each try is a new transaction.
 * DynamoDB forgets a token after ten minutes, and then the same happens.
 */
async function forgetful(): Promise<OperatorServices> {
  const services = await connect({ data: operated.service.folder });
  services.table.client.middlewareStack.add(
    (next) => async (args) => {
      Reflect.deleteProperty(args.input, 'ClientRequestToken');
      return next(args);
    },
    { step: 'initialize' },
  );
  return services;
}

describe.each<[string, () => Promise<OperatorServices>]>([
  ['still knows the token of the first try', () => connect({ data: operated.service.folder })],
  ['has forgotten the token of the first try', forgetful],
])('after a lost answer and throttles, when DynamoDB %s', (_what, open) => {
  it('a top-up is made once and reported as made', async () => {
    const { wallet } = await open();
    loseThenThrottle();
    expect(await wallet.topUp(operated.client.account.id, asMicros(3_000_000), 'invoice-1')).toEqual({
      kind: 'applied',
    });
    expect(operated.service.machine.faults.list()).toEqual([]);
    expect(await operated.service.account(operated.client.account.id)).toMatchObject({
      availableMicros: openingMicros + 3_000_000,
    });
    expect(await wallet.topUp(operated.client.account.id, asMicros(3_000_000), 'invoice-1')).toEqual({
      kind: 'already_applied',
    });
  });

  it('an adjustment is made once, with one ledger row', async () => {
    const { wallet } = await open();
    loseThenThrottle();
    expect(await wallet.adjust(operated.client.account.id, asMicros(-2_000_000), 'test')).toEqual({
      kind: 'applied',
    });
    expect(operated.service.machine.faults.list()).toEqual([]);
    expect(await operated.service.account(operated.client.account.id)).toMatchObject({
      availableMicros: openingMicros - 2_000_000,
    });
    expect((await wallet.ledger(operated.client.account.id)).map(({ kind }) => kind)).toEqual([
      'top_up',
      'adjustment',
    ]);
  });

  it('a credit line is changed once and reported as changed', async () => {
    const { wallet } = await open();
    loseThenThrottle();
    expect(await wallet.setCreditLine(operated.client.account.id, asMicros(0), asMicros(7_000_000))).toBe(
      'changed',
    );
    expect(operated.service.machine.faults.list()).toEqual([]);
    expect(await operated.service.account(operated.client.account.id)).toMatchObject({
      availableMicros: openingMicros + 7_000_000,
      creditLineMicros: 7_000_000,
    });
  });

  it('a top-up whose other tries are all throttled is found in the ledger and reported as made', async () => {
    const { wallet } = await open();
    loseThenThrottle(1_000);
    expect(await wallet.topUp(operated.client.account.id, asMicros(3_000_000), 'invoice-1')).toEqual({
      kind: 'applied',
    });
    operated.service.machine.faults.clear();
    expect(await operated.service.account(operated.client.account.id)).toMatchObject({
      availableMicros: openingMicros + 3_000_000,
    });
  });
});

it('a top-up without any answer is reported as unknown, unless the ledger has it', async () => {
  const { wallet } = await connect({ data: operated.service.folder });
  operated.service.machine.faults.set({
    call: 'dynamodb:TransactWriteItems',
    caller: 'operator',
    error: 'Timeout',
    when: 'before',
    times: 100,
  });
  await expect(wallet.topUp(operated.client.account.id, asMicros(1), 'lost')).rejects.toMatchObject({
    name: 'OutcomeUnknown',
  });
  operated.service.machine.faults.clear();
  operated.service.machine.faults.set({
    call: 'dynamodb:TransactWriteItems',
    caller: 'operator',
    error: 'Timeout',
    when: 'after',
    times: 100,
  });
  expect(await wallet.topUp(operated.client.account.id, asMicros(1), 'kept')).toEqual({ kind: 'applied' });
});

it('a webhook secret is reported as replaced although the answer to its write was lost', async () => {
  const { accounts } = await connect({ data: operated.service.folder });
  const { webhookSecrets } = await operated.service.account(operated.client.account.id);
  operated.service.machine.faults.set({
    call: 'dynamodb:UpdateItem',
    caller: 'operator',
    error: 'Timeout',
    when: 'after',
    times: 1,
  });
  const next = [{ sealed: 'v1.x.y.z', issuedAt: 1 }, ...webhookSecrets];
  expect(await accounts.replaceSecrets(operated.client.account.id, webhookSecrets[0], next)).toBe(true);
  expect(
    await accounts.replaceSecrets(operated.client.account.id, webhookSecrets[0], [
      { sealed: 'v1.other', issuedAt: 1 },
    ]),
  ).toBe(false);
});
