/** The notices of payments: each is sent once, by the transaction that it reports. */
import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createWalletStore } from '../../service/accounts/wallet-store.ts';
import type { StripePayment } from '../../service/payments/payment.ts';
import type { AccountId } from '../../service/values/ids.ts';
import { webhookSecret } from '../local/stripe/stripe-fixture.ts';
import { type Scene, startScene, usd } from './payment-scene.ts';

let scene: Scene;
let account: AccountId;
beforeEach(async () => {
  scene = await startScene();
  account = await scene.account(10, 'https://client.test/notices');
});
afterEach(() => scene.end());

interface PaymentNotice {
  readonly notice: string;
  readonly account: { readonly available: number };
  readonly payment: Readonly<Record<string, unknown>>;
}

/** The notices of payments that the table holds, the oldest first. */
async function notices(): Promise<PaymentNotice[]> {
  const { name, client } = scene.table;
  const { Items = [] } = await client.send(new ScanCommand({ TableName: name, ConsistentRead: true }));
  return Items.filter(({ sk, type }) => sk === 'NOTICE' && String(type).startsWith('payment.'))
    .toSorted((one, other) => (String(one['id']) < String(other['id']) ? -1 : 1))
    .map(({ webhook }) => JSON.parse((webhook as { body: string }).body) as PaymentNotice);
}

async function paid(): Promise<StripePayment> {
  const payment = await scene.checkout(account, 25);
  scene.pay(payment);
  await scene.fake.advance(61);
  await scene.worker();
  return scene.stored(payment);
}

describe('An account is notified', () => {
  it('once of a payment, by its event five times and the worker, and with the new balance', async () => {
    scene.fake.act({ action: 'webhook', url: 'http://receiver.test/', secrets: [webhookSecret] });
    const payment = await scene.checkout(account, 25);
    scene.pay(payment);
    await scene.fake.advance(61);
    const events = scene.fake.webhooks.flatMap((event) => Array.from({ length: 5 }, () => event));
    await Promise.all([...events.map((event) => scene.receive(event)), scene.worker(), scene.worker()]);
    expect(await notices()).toEqual([
      expect.objectContaining({
        notice: 'payment.received',
        account: { available: 35, low_balance: null, currency: 'USD' },
        payment: { id: payment.id, kind: 'checkout', amount: 25 },
      }),
    ]);
  });

  it('of each part that a refund and a dispute took, and of a dispute that is won', async () => {
    const { id, paymentIntent } = await paid();
    const followed = async (): Promise<void> => {
      await scene.fake.advance(610);
      await scene.worker();
      await scene.worker();
    };
    scene.fake.act({ action: 'refund', payment_intent: paymentIntent, amount: 1_000, as: 'succeeded' });
    await followed();
    scene.fake.act({ action: 'dispute', payment_intent: paymentIntent, as: 'opened' });
    await followed();
    scene.fake.act({ action: 'dispute', payment_intent: paymentIntent, as: 'won' });
    await followed();
    expect(
      (await notices()).map(({ notice, account: { available }, payment }) => [notice, available, payment]),
    ).toEqual([
      ['payment.received', 35, { id, kind: 'checkout', amount: 25 }],
      ['payment.reversed', 25, { id, reason: 'refund', amount: -10 }],
      ['payment.reversed', 10, { id, reason: 'dispute', amount: -15 }],
      ['payment.reversed', 25, { id, reason: 'dispute_won', amount: 15 }],
    ]);
  });

  it.each([
    ['authentication', 'authentication_required'],
    ['later_declined', 'declined'],
  ])('once why an automatic payment with the card "%s" failed, and where to pay', async (card, reason) => {
    await scene.automatic(account, card);
    for (let minute = 0; minute < 3; minute += 1) {
      await scene.worker();
      await scene.fake.advance(60);
    }
    const [, failed, ...more] = await notices();
    expect(more).toEqual([]);
    expect(failed).toMatchObject({
      notice: 'payment.failed',
      payment: {
        kind: 'auto',
        amount: 40,
        reason,
        auto_top_up: 'paused',
        pay_url: 'https://portal.test/wallet',
      },
    });
    expect(failed?.payment['id']).toMatch(/^pay_/);
  });

  it('once a month that its cap is reached', async () => {
    await scene.automatic(account);
    for (let minute = 0; minute < 8; minute += 1) {
      await scene.worker();
      await scene.fake.advance(60);
      await createWalletStore(scene.table).adjust(account, usd(-30), `minute ${minute}`);
    }
    expect((await notices()).filter(({ notice }) => notice === 'payment.failed')).toEqual([
      expect.objectContaining({
        payment: {
          id: null,
          kind: 'auto',
          amount: null,
          reason: 'monthly_cap',
          auto_top_up: 'on',
          pay_url: 'https://portal.test/wallet',
        },
      }),
    ]);
  });

  it('of nothing when it wants no notices', async () => {
    account = await scene.account(10);
    await paid();
    expect(await notices()).toEqual([]);
  });
});
