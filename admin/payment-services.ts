/**
 * The services of the commands for payments: from the same opener as the functions, with the operator's own
 * rights.
 */
import {
  GetSecretValueCommand,
  PutSecretValueCommand,
  type SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { stripeEventsRoute } from '../service/contract/operations.ts';
import { createAccountStore } from '../service/accounts/account-store.ts';
import type { Table } from '../service/aws/dynamodb/table.ts';
import { openFollow, type PaymentPlatform } from '../service/payments/open.ts';
import { createPaymentStore } from '../service/payments/payment-store.ts';
import { isOfStripe, partsOf, type PaymentId } from '../service/payments/payment.ts';
import type { PaymentSettings } from '../service/contract/payment-settings.ts';
import { createPaymentSystem, type StripeSecret } from '../service/payments/payment-system.ts';
import { type AccountId, timeOfUuidV7 } from '../service/values/ids.ts';
import { OperatorError } from './operator-error.ts';

export interface PaymentAddress {
  /** Empty: the stack takes no payments. */
  readonly secretArn: string;
  /** JSON, as the functions get it. */
  readonly settings: string;
  readonly apiUrl: string;
}

/** Throws OperatorError when the stack takes no payments. */
export function openPayments(
  on: Omit<PaymentPlatform, 'paymentSystem'>,
  secrets: SecretsManagerClient,
  table: Table,
  { secretArn, settings: text, apiUrl }: PaymentAddress,
) {
  if (secretArn === '')
    throw new OperatorError('The stack takes no payments: set `payments` in its settings, and deploy again.');
  const settings = JSON.parse(text) as PaymentSettings;
  const { clock } = on;
  const readSecret = async (): Promise<StripeSecret> => {
    const { SecretString = '{}' } = await secrets.send(new GetSecretValueCommand({ SecretId: secretArn }));
    return JSON.parse(SecretString) as StripeSecret;
  };
  const paymentSystem = createPaymentSystem({ settings, readSecret, clock });
  const follow = { ...openFollow({ ...on, paymentSystem }, table), clock };
  const allPayments = createPaymentStore(table);
  const { stripe, payments, topUps } = follow;
  return {
    follow,
    payments,
    topUps,
    allPayments,
    auditing: { stripe, payments, allPayments, accounts: createAccountStore(table).pages },
    /** Stripe with another key than the stored one. */
    stripe: (key: string) =>
      createPaymentSystem({ settings, readSecret: () => Promise.resolve({ key }), clock }).stripe,
    secret: {
      read: readSecret,
      write: async (next: StripeSecret): Promise<void> => {
        const SecretString = JSON.stringify(next);
        await secrets.send(new PutSecretValueCommand({ SecretId: secretArn, SecretString }));
      },
    },
    /** Called only when the mode changes: it may read every account. */
    hasPayments: async (): Promise<boolean> => {
      for await (const page of createAccountStore(table).pages())
        for (const { id } of page) if ((await allPayments.list(id, mostRead)).some(isOfStripe)) return true;
      return false;
    },
    /** Has Stripe forget the saved card of an account. Throws OperatorError while Stripe does not answer. */
    forgetCard: async (account: AccountId): Promise<void> => {
      const { card } = await topUps.read(account);
      const outcome = card && (await stripe.detachPaymentMethod(card.paymentMethod));
      if (outcome?.kind === 'unknown')
        throw new OperatorError('Stripe does not answer, so the saved card is still there: run this again.');
    },
    /** What the operator enters at Stripe. */
    webhookUrl: new URL(stripeEventsRoute, apiUrl).href,
    /** The PaymentIntent of a payment whose record is lost. Undefined: no charge of its days names it. */
    intentOf: async (id: PaymentId): Promise<string | undefined> => {
      const began = Math.floor((timeOfUuidV7(partsOf(id)?.uuid ?? '') ?? 0) / 1_000);
      let after: string | undefined;
      for (;;) {
        const page = await stripe.listCharges(began - daySeconds, began + searchedDays * daySeconds, after);
        if (page.kind !== 'ok') throw new OperatorError('Stripe does not answer: try again in a minute.');
        const { items, hasMore } = page.object;
        const found = items.find(({ metadata }) => metadata['payment'] === id);
        if (found?.paymentIntent !== undefined && found.paymentIntent !== null) return found.paymentIntent;
        after = items.at(-1)?.id;
        if (!hasMore || after === undefined) return undefined;
      }
    },
  };
}

/** The newest ones of an account. */
const mostRead = 100;
const daySeconds = 86_400;
/** A bank may take two weeks. */
const searchedDays = 15;
