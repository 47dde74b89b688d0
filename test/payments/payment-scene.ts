/** An account, the fake of Stripe and the functions of payments on one clock, without a stack around them. */
import { createAccountSettings } from '../../service/accounts/account-settings-store.ts';
import { createWalletStore } from '../../service/accounts/wallet-store.ts';
import { systemClock } from '../../service/aws/clock.ts';
import type { Table } from '../../service/aws/dynamodb/table.ts';
import { createNoticeMarks } from '../../service/notices/notice-store.ts';
import { type AutoTopUpStore, createAutoTopUpStore } from '../../service/payments/auto-top-up-store.ts';
import { followPayments, type PaymentReport } from '../../service/payments/follow-payments.ts';
import type { WorkerServices } from '../../service/payments/open.ts';
import { metadataOf } from '../../service/payments/payment-hint.ts';
import { newPaymentId, type StripePayment } from '../../service/payments/payment.ts';
import { receivePayment } from '../../service/payments/receive-payment.ts';
import { createStripePaymentStore } from '../../service/payments/stripe-payment-store.ts';
import { createStripe, type StripeOutcome } from '../../service/payments/stripe/client.ts';
import { createPaymentNotices } from '../../service/payments/payment-notices.ts';
import { schema } from '../../service/values/runtime.ts';
import type { AccountId } from '../../service/values/ids.ts';
import { asMicros, type Micros } from '../../service/values/money.ts';
import { monthOf } from '../../service/values/time.ts';
import { anAccount } from '../fixtures/records.ts';
import {
  type SentWebhook,
  startStripe,
  type TestStripe,
  testKey,
  webhookSecret,
} from '../local/stripe/stripe-fixture.ts';
import { startMemory } from '../tables/engines.ts';

export const usd = (dollars: number): Micros => asMicros(Math.round(dollars * 1_000_000));

export interface Scene {
  readonly fake: TestStripe;
  readonly table: Table;
  readonly services: WorkerServices;
  /** What the functions logged as alarms. */
  readonly alarms: string[];
  /** Opens an account with so many dollars. */
  readonly account: (dollars: number, noticeUrl?: string) => Promise<AccountId>;
  readonly available: (account: AccountId) => Promise<number | undefined>;
  readonly checkout: (account: AccountId, dollars: number, savesCard?: boolean) => Promise<StripePayment>;
  readonly pay: (payment: StripePayment, card?: string) => void;
  readonly stored: (payment: StripePayment) => Promise<StripePayment>;
  /** The account has a saved card, and its automatic top-up is on. */
  readonly automatic: (account: AccountId, card?: string) => Promise<void>;
  readonly worker: () => Promise<PaymentReport>;
  /** Sends a webhook to ReceivePayment. Gives the status. */
  readonly receive: (
    webhook: SentWebhook,
    changed?: string,
    more?: Partial<WorkerServices>,
  ) => Promise<number>;
  readonly end: () => void;
}

const chosen = {
  isOn: true,
  thresholdMicros: usd(20),
  amountMicros: usd(40),
  monthlyCapMicros: usd(100),
};

export async function startScene(secrets: readonly string[] = [webhookSecret]): Promise<Scene> {
  const [fake, memory] = await Promise.all([startStripe(), startMemory().then(async ({ open }) => open())]);
  const clock = { ...systemClock, now: fake.now };
  const table: Table = { ...memory, clock };
  const alarms: string[] = [];
  const payments = createStripePaymentStore(table);
  const topUps: AutoTopUpStore = createAutoTopUpStore(table);
  const common = {
    clock,
    randomBytes: table.randomBytes,
    log: { info: () => undefined, alarm: (event: string) => alarms.push(event) },
    schema,
  };
  const settings = createAccountSettings(table);
  const services: WorkerServices = {
    ...common,
    stripe: createStripe({ key: () => Promise.resolve(testKey), baseUrl: fake.url, clock }),
    paymentSettings: {
      base_url: fake.url,
      automatic_tax: false,
      tax_ids: false,
      invoices: false,
      suspend_on_dispute: false,
    },
    livemode: () => Promise.resolve(false),
    webhookSecrets: () => Promise.resolve(secrets),
    payments,
    topUps,
    paymentNotices: createPaymentNotices({
      ...common,
      notices: createNoticeMarks(table),
      readAccount: settings.read,
      walletUrl: 'https://portal.test/wallet',
    }),
  };
  let accounts = 0;
  const aPayment = (account: AccountId, dollars: number, savesCard: boolean): StripePayment => ({
    id: newPaymentId(account, fake.now(), table.randomBytes(16)),
    accountId: account,
    kind: 'checkout',
    state: 'open',
    amountMicros: usd(dollars),
    reversedMicros: asMicros(0),
    version: 1,
    month: monthOf(fake.now()),
    livemode: false,
    ...(savesCard && { savesCard: true }),
    at: new Date(fake.now()).toISOString(),
  });
  const read = async ({ id }: StripePayment): Promise<StripePayment> => {
    const found = await payments.read(id);
    if (!found) throw new Error('there is no payment');
    return found;
  };
  const scene: Scene = {
    fake,
    table,
    services,
    alarms,
    account: async (dollars, noticeUrl) => {
      accounts += 1;
      const id = `Payer${String(accounts).padStart(5, '0')}` as AccountId;
      const more = noticeUrl === undefined ? {} : { noticeUrl };
      await createWalletStore(table).open(anAccount({ id, availableMicros: usd(dollars), ...more }));
      return id;
    },
    available: async (account) => (await settings.read(account))?.availableMicros,
    checkout: async (account, dollars, savesCard = false) => {
      const payment = aPayment(account, dollars, savesCard);
      await payments.beginCheckout(payment);
      const order = {
        ...{ amountCents: dollars * 100, product: 'Credit', reference: payment.id, savesCard },
        ...{ metadata: metadataOf(payment), expiresAt: Math.floor(fake.now() / 1_000) + 1_860 },
        ...{ successUrl: 'https://portal.test/', cancelUrl: 'https://portal.test/' },
        ...{ automaticTax: false, taxIds: false, invoices: false },
      };
      const session = objectOf(await services.stripe.createSession(order, `dr_${payment.id}`));
      await payments.note(payment.id, { session: session.id });
      return { ...payment, session: session.id };
    },
    pay: (payment, card = 'pays') => {
      fake.act({ action: 'pay', session: payment.session, card });
    },
    stored: read,
    automatic: async (account, card = 'pays') => {
      const first = await scene.checkout(account, 5, true);
      scene.pay(first, card);
      await fake.advance(61);
      await scene.worker();
      if (!(await topUps.choose(await topUps.read(account), chosen))) throw new Error('not chosen');
    },
    worker: () => followPayments(services, () => 300_000),
    receive: async ({ signature, body }, changed = body, more = {}) => {
      const headers = signature === undefined ? {} : { 'stripe-signature': signature };
      const event = { headers, body: changed, isBase64Encoded: false } as unknown;
      const answer = await receivePayment(event as Parameters<typeof receivePayment>[0], {
        ...services,
        ...more,
      });
      return answer.statusCode ?? 0;
    },
    end: fake.end,
  };
  await payments.moveCursor(fake.now());
  return scene;
}

function objectOf<Found>(outcome: StripeOutcome<Found>): Found {
  if (outcome.kind !== 'ok') throw new Error(`not ok: ${JSON.stringify(outcome)}`);
  return outcome.object;
}
