/** The comparison with the charges at Stripe, and the check that corrects what is missing (M26). */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createAccountStore } from '../../service/accounts/account-store.ts';
import { createWalletStore } from '../../service/accounts/wallet-store.ts';
import { deleteItem, updateItem } from '../../service/aws/dynamodb/send.ts';
import { auditPayments } from '../../service/payments/audit-payments.ts';
import { followIntent } from '../../service/payments/payment-hint.ts';
import { createPaymentStore, paymentKey } from '../../service/payments/payment-store.ts';
import type { StripePayment } from '../../service/payments/payment.ts';
import type { AccountId } from '../../service/values/ids.ts';
import { asMicros } from '../../service/values/money.ts';
import { type Scene, startScene, usd } from './payment-scene.ts';

let scene: Scene;
let account: AccountId;
let payment: StripePayment;
beforeEach(async () => {
  scene = await startScene();
  account = await scene.account(5);
  payment = await scene.checkout(account, 25);
  scene.pay(payment);
  await scene.fake.advance(61);
  await scene.worker();
  payment = await scene.stored(payment);
});
afterEach(() => scene.end());

async function audit(from = scene.fake.now() - 86_400_000) {
  const { stripe, payments } = scene.services;
  const allPayments = createPaymentStore(scene.table);
  const accounts = createAccountStore(scene.table).pages;
  return auditPayments({ stripe, payments, allPayments, accounts }, from, scene.fake.now() + 1_000);
}

it('finds no difference while every charge is credited, and what went back is debited', async () => {
  expect(await audit()).toEqual({ charges: 1, payments: 1, differences: [] });
  scene.fake.act({
    action: 'refund',
    payment_intent: payment.paymentIntent,
    amount: 1_000,
    as: 'succeeded',
  });
  expect((await audit()).differences).toMatchObject([
    { kind: 'other_reversal', expectedMicros: usd(10), foundMicros: 0 },
  ]);
  await scene.fake.advance(601);
  await scene.worker();
  expect((await audit()).differences).toEqual([]);
});

it('names a charge whose record was deleted by hand, and a read of its PaymentIntent corrects it', async () => {
  await deleteItem(scene.table, paymentKey(payment.id));
  // A person who deletes the record by hand deletes everything that belongs to it.
  await createWalletStore(scene.table).adjust(account, usd(-25), 'deleted by hand');
  const { differences } = await audit();
  expect(differences).toMatchObject([{ kind: 'no_record', payment: payment.id, expectedMicros: usd(25) }]);
  expect(await followIntent(scene.services, payment.paymentIntent ?? '')).toEqual({ kind: 'succeeded' });
  expect((await audit()).differences).toEqual([]);
  expect(await scene.available(account)).toBe(usd(30));
});

it('names a credit that no charge stands for, and an amount that is another one', async () => {
  const change = (expression: string, value: unknown) =>
    updateItem(scene.table, paymentKey(payment.id), {
      UpdateExpression: expression,
      ExpressionAttributeValues: { ':value': value },
    });
  await change('SET creditedMicros = :value', asMicros(1));
  expect((await audit()).differences).toMatchObject([{ kind: 'other_amount', foundMicros: 1 }]);
  await change('SET creditedMicros = :value', usd(25));
  await change('SET paymentIntent = :value', 'pi_nobody');
  // The charge is of another day, so only the credit is checked.
  await scene.fake.advance(2 * 86_400);
  await updateItem(scene.table, paymentKey(payment.id), {
    UpdateExpression: 'SET #at = :value',
    ExpressionAttributeNames: { '#at': 'at' },
    ExpressionAttributeValues: { ':value': new Date(scene.fake.now()).toISOString() },
  });
  expect((await audit(scene.fake.now() - 3_600_000)).differences).toMatchObject([
    { kind: 'no_charge', payment: payment.id, foundMicros: usd(25) },
  ]);
});
