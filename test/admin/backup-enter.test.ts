/** `backup enter`, case by case: what was entered by hand, what ended in another way, what is left out. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DescribeTableCommand, RestoreTableToPointInTimeCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createAccount } from '../../admin/commands/accounts.ts';
import { issueKey } from '../../admin/commands/keys.ts';
import { enterAfter, type Found, type Group } from '../../admin/restore/enter.ts';
import { openRestored } from '../../admin/restore/old-items.ts';
import type { OperatorServices } from '../../admin/services.ts';
import type { Account } from '../../service/accounts/account.ts';
import { createWalletStore } from '../../service/accounts/wallet-store.ts';
import { getItem, putItem, updateItem } from '../../service/aws/dynamodb/send.ts';
import { keys, type Table } from '../../service/aws/dynamodb/table.ts';
import { createChargeStore } from '../../service/creations/charge-store.ts';
import { createCreationStore } from '../../service/creations/creation-store.ts';
import { createOpenWorkStore } from '../../service/creations/open-work-store.ts';
import type { CreationId } from '../../service/values/ids.ts';
import { createPaymentStore } from '../../service/payments/payment-store.ts';
import { newPaymentId } from '../../service/payments/payment.ts';
import { asMicros } from '../../service/values/money.ts';
import { settled } from '../../start/creations.ts';
import { differencesIn } from '../fixtures/books.ts';
import { newFolder } from '../local/machine-fixture.ts';
import { type StandInStack, startStack } from '../serve/stand-in-stack.ts';

let stack: StandInStack;
let operator: OperatorServices;
let account: Account;
let tables = 0;
beforeAll(async () => {
  stack = await startStack(join(newFolder(afterAll), 'stack'), { recoverMillis: 3_600_000 });
  operator = stack.operator;
  account = await createAccount(operator, { name: 'one', balance: '5', sandbox: 'yes' });
  // The first run of the reconciler makes the item of the service, up to a minute after the start: maybe behind a
  // restore. A count makes it now.
  await createOpenWorkStore(operator.table).recordOpenCount();
});
afterAll(() => stack.end());

/** A restore to now, once no item lags any more. */
async function restore(more: object = {}): Promise<{ readonly name: string; readonly table: Table }> {
  await sleep(1_100);
  const name = `Restored-${(tables += 1)}`;
  const wanted = {
    SourceTableName: operator.table.name,
    TargetTableName: name,
    UseLatestRestorableTime: true,
  };
  await operator.raw.dynamo.send(new RestoreTableToPointInTimeCommand({ ...wanted, ...more }));
  return { name, table: { ...operator.table, name } };
}

async function enter(table: string, ...skip: Group[]): Promise<Found[]> {
  const found: Found[] = [];
  const { differences } = await enterAfter(await openRestored(operator, { table }), {
    isEntered: true,
    skip: new Set(skip),
    onFound: (one) => found.push(one),
    onProgress: () => undefined,
  });
  expect(differences).toEqual([]);
  return found;
}

const available = async (table: Table): Promise<unknown> =>
  (await getItem(table, keys.account(account.id)))?.['availableMicros'];

it('restores as DynamoDB does: items and indexes, and no time to live', async () => {
  const { name } = await restore();
  const { Table: made } = await operator.raw.dynamo.send(new DescribeTableCommand({ TableName: name }));
  expect(made?.RestoreSummary?.SourceTableArn).toMatch(new RegExp(`:table/${operator.table.name}$`));
  expect(made?.GlobalSecondaryIndexes).toHaveLength(2);
  await expect(restore({ TargetTableName: name })).rejects.toThrow('already exists');
  await expect(restore({ SourceTableName: 'Nothing' })).rejects.toThrow('Table not found');
  const never = { UseLatestRestorableTime: false, RestoreDateTime: new Date(0) };
  await expect(restore(never)).rejects.toThrow('out of range');
  expect(await enter(name)).toEqual([]);
});

it('does not enter what a person entered by hand with the same reference', async () => {
  const { name, table } = await restore();
  await operator.wallet.topUp(account.id, asMicros(1_000), 'by hand');
  await operator.wallet.topUp(account.id, asMicros(2_000), 'other amount');
  await operator.wallet.topUp(account.id, asMicros(4_000), 'not yet');
  const byHand = createWalletStore(table);
  await byHand.topUp(account.id, asMicros(1_000), 'by hand');
  await byHand.topUp(account.id, asMicros(16_000), 'other amount');
  const before = Number(await available(table));
  const found = await enter(name);
  expect(Number(await available(table)) - before).toBe(4_000);
  expect(found.filter(({ what }) => what === 'movements')).toMatchObject([
    { change: 'differs', left: 'its reference names another amount here' },
    { change: 'new', usd: 0.004, left: null },
  ]);
});

it('enters a payment with its money, and none whose reference was credited again', async () => {
  const { name, table } = await restore();
  const pay = async (to: Table, reference: string): Promise<string> => {
    const payment = {
      id: newPaymentId(account.id, operator.clock.now(), operator.randomBytes(16)),
      accountId: account.id,
      reference,
      creditedMicros: asMicros(1_000),
      reversedMicros: asMicros(0),
      at: new Date(operator.clock.now()).toISOString(),
      by: 'OperatorKy',
    };
    const entry = { kind: 'payment', amountMicros: asMicros(1_000), reference, payment: payment.id } as const;
    const beside = [createPaymentStore(to).toPut(payment)];
    expect(await createWalletStore(to).move(account.id, entry, { beside })).toEqual({ kind: 'applied' });
    return payment.id;
  };
  const once = await pay(operator.table, 'paid once');
  await pay(operator.table, 'paid again');
  const again = await pay(table, 'paid again');
  const before = Number(await available(table));
  await enter(name);
  const payments = await createPaymentStore(table).list(account.id, 100);
  expect(payments.map(({ id }) => id).sort()).toEqual([once, again].sort());
  expect(await available(table)).toBe(before + 1_000);
});

it('leaves out the groups that the operator names, and enters them later', async () => {
  const { name, table } = await restore();
  await operator.accounts.change(account.id, { name: 'renamed' });
  await operator.wallet.topUp(account.id, asMicros(8_000), 'skipped');
  const nameIn = async (): Promise<unknown> => (await getItem(table, keys.account(account.id)))?.['name'];
  expect(await enter(name, 'accounts', 'movements')).toContainEqual(
    expect.objectContaining({ what: 'movements', left: 'skipped' }),
  );
  expect(await nameIn()).toBe('one');
  await enter(name);
  expect(await nameIn()).toBe('renamed');
  expect(await available(table)).toBe(await available(operator.table));
  expect(await enter(name)).toEqual([]);
});

it('removes sums of days and months into which rows may have come', async () => {
  const { name, table } = await restore();
  const { pk } = keys.account(account.id);
  const month = new Date().toISOString().slice(0, 7).replace('-', '_');
  const today = new Date().toISOString().slice(0, 10);
  const sums = [
    { pk, sk: `USAGE#key#${today}#0000` },
    { pk, sk: 'USAGE#key#2020-01-31#0000' },
    { pk: `CLOSING#${account.id}`, sk: `MONTH#${month}` },
    { pk: `CLOSING#${account.id}`, sk: 'MONTH#2020_01' },
  ];
  for (const key of sums) await putItem(table, { ...key, rows: 0, availableMicros: 0, creditLineMicros: 0 });
  await enter(name);
  const left = await Promise.all(sums.map((key) => getItem(table, key)));
  expect(left.map((item) => item?.['sk'])).toEqual([
    undefined,
    'USAGE#key#2020-01-31#0000',
    undefined,
    'MONTH#2020_01',
  ]);
});

it('moves no money for a creation that has ended here in another way', async () => {
  const { record, key } = await issueKey(operator, account, { name: 'one' });
  const answer = await fetch(`${stack.machine.apiUrl}/images/generate`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sandbox-sketch', prompt: 'a lake [sandbox:delay=4]' }),
  });
  const { id } = (await answer.json()) as { id: CreationId };
  const { name, table } = await restore();
  expect(await settled({ operator }, id)).toMatchObject({ status: 'completed' });
  const open = await createCreationStore(table).read(id);
  if (!open) throw new Error('the restored table has no record of the creation');
  const refund = { failure: 'Timeout', nowMillis: Date.now(), announce: false } as const;
  expect(await createChargeStore(table).refund(open, refund as never)).toBe('refunded');
  const before = await available(table);
  const found = await enter(name);
  expect(found.filter(({ what }) => what === 'creations')).toMatchObject([
    { change: 'differs', id, left: 'here it is failed, and in the old table completed' },
  ]);
  expect(await available(table)).toBe(before);
  // A key that was revoked dies also in a table that is in use.
  await operator.accounts.revokeKey(account.id, record.id, new Date().toISOString());
  await createWalletStore(table).topUp(account.id, asMicros(1), 'in use');
  await operator.accounts.change(account.id, { name: 'late' });
  expect((await enter(name)).filter(({ left }) => left?.includes('was used')).map(({ id }) => id)).toEqual([
    'ACCOUNT',
  ]);
  expect((await getItem(table, keys.apiKey(account.id, record.id)))?.['revokedAt']).toBeDefined();
});

it('reports a difference that is older than the restore, and leaves it', async () => {
  const { name, table } = await restore();
  await updateItem(table, keys.account(account.id), {
    UpdateExpression: 'SET inFlight = :wrong, availableMicros = :wrong',
    ExpressionAttributeValues: { ':wrong': 7 },
  });
  const restored = { ...(await openRestored(operator, { table: name })), sinceMillis: Date.now() + 600_000 };
  const { differences } = await enterAfter(restored, {
    ...{ isEntered: true, skip: new Set<Group>() },
    ...{ onFound: () => undefined, onProgress: () => undefined },
  });
  expect(differences.map(({ what }) => what).sort()).toEqual(['available', 'in_flight']);
  expect(await differencesIn(table)).toEqual(differences);
});
