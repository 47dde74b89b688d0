/** Compares every charge at Stripe with the record of its payment, and the other way round. */
import type { AccountId } from '../values/ids.ts';
import { asMicros, type Micros } from '../values/money.ts';
import { backMicros, NotSaid } from './follow-payment.ts';
import { isOfStripe, partsOf, type PaymentId, type StripePayment } from './payment.ts';
import type { createPaymentStore } from './payment-store.ts';
import type { Stripe } from './stripe/client.ts';
import type { StripeCharge } from './stripe/objects.ts';
import type { StripePaymentStore } from './stripe-payment-store.ts';

export interface AuditServices {
  readonly stripe: Stripe;
  readonly payments: Pick<StripePaymentStore, 'read'>;
  readonly allPayments: Pick<ReturnType<typeof createPaymentStore>, 'list'>;
  /** Every account of the service. */
  readonly accounts: () => AsyncIterable<readonly { readonly id: AccountId }[]>;
}

export interface PaymentDifference {
  /** 'no_record', 'not_credited', 'other_amount', 'other_reversal': of a charge. 'no_charge': of a credit. */
  readonly kind: 'no_record' | 'not_credited' | 'other_amount' | 'other_reversal' | 'no_charge';
  readonly payment: string;
  readonly charge: string | null;
  readonly paymentIntent: string | null;
  /** The value at Stripe. */
  readonly expectedMicros: Micros;
  /** The value in the table. */
  readonly foundMicros: Micros;
}

export interface PaymentAudit {
  readonly charges: number;
  readonly payments: number;
  readonly differences: readonly PaymentDifference[];
}

/** Stripe did not answer, so the comparison has no result. */
export class AuditBroke extends Error {
  override readonly name = 'AuditBroke';
}

/** @param from Unix milliseconds, included @param before Unix milliseconds, not included */
export async function auditPayments(
  services: AuditServices,
  from: number,
  before: number,
): Promise<PaymentAudit> {
  const differences: PaymentDifference[] = [];
  const charged = new Set<string>();
  let charges = 0;
  for await (const charge of chargesOf(services, from, before)) {
    charges += 1;
    charged.add(charge.metadata['payment'] ?? '');
    differences.push(...(await differencesOf(services, charge)));
  }
  let payments = 0;
  for await (const payment of creditsOf(services, from, before)) {
    payments += 1;
    if (!charged.has(payment.id) && !(await isCharged(services, payment)))
      differences.push({
        kind: 'no_charge',
        payment: payment.id,
        charge: null,
        paymentIntent: payment.paymentIntent ?? null,
        expectedMicros: asMicros(0),
        foundMicros: payment.creditedMicros ?? asMicros(0),
      });
  }
  return { charges, payments, differences };
}

/** The charges that succeeded and that payments of this service made. */
async function* chargesOf(
  { stripe }: AuditServices,
  from: number,
  before: number,
): AsyncGenerator<StripeCharge> {
  let after: string | undefined;
  for (;;) {
    const page = await stripe.listCharges(Math.floor(from / 1_000), Math.ceil(before / 1_000), after);
    if (page.kind !== 'ok') throw new AuditBroke('Stripe did not list the charges');
    const { items, hasMore } = page.object;
    yield* items.filter(
      ({ status, metadata }) => status === 'succeeded' && partsOf(metadata['payment'] ?? ''),
    );
    after = items.at(-1)?.id;
    if (!hasMore || after === undefined) return;
  }
}

async function differencesOf(
  services: AuditServices,
  charge: StripeCharge,
): Promise<readonly PaymentDifference[]> {
  const { id, metadata, paymentIntent, amountCents } = charge;
  const expectedMicros = asMicros(Number(metadata['amount'] ?? Number.NaN));
  const payment = (metadata['payment'] ?? '') as PaymentId;
  const found = { payment, charge: id, paymentIntent, expectedMicros };
  const stored = await services.payments.read(payment);
  if (!stored) return [{ ...found, kind: 'no_record', foundMicros: asMicros(0) }];
  const { creditedMicros, reversedMicros } = stored;
  if (creditedMicros === undefined) return [{ ...found, kind: 'not_credited', foundMicros: asMicros(0) }];
  if (creditedMicros !== expectedMicros)
    return [{ ...found, kind: 'other_amount', foundMicros: creditedMicros }];
  const { amountRefundedCents, isDisputed } = charge;
  const isUntouched = amountRefundedCents === 0 && !isDisputed && reversedMicros === 0;
  if (isUntouched || paymentIntent === null) return [];
  const back = backMicros(services.stripe, creditedMicros, paymentIntent, amountCents);
  const { targetMicros } = await back.catch((error: unknown) => {
    throw error instanceof NotSaid ? new AuditBroke('Stripe did not answer') : error;
  });
  return targetMicros === reversedMicros
    ? []
    : [{ ...found, kind: 'other_reversal', expectedMicros: targetMicros, foundMicros: reversedMicros }];
}

const pageItems = 100;

/** The payments of Stripe that began in these days and were credited. */
async function* creditsOf(
  { accounts, allPayments }: AuditServices,
  from: number,
  before: number,
): AsyncGenerator<StripePayment> {
  for await (const page of accounts()) {
    for (const { id } of page) {
      let after: PaymentId | undefined;
      for (;;) {
        const payments = await allPayments.list(id, pageItems, after);
        for (const payment of payments) {
          const at = Date.parse(payment.at);
          if (isOfStripe(payment) && payment.creditedMicros !== undefined && at >= from && at < before)
            yield payment;
        }
        after = payments.at(-1)?.id;
        const oldest = Date.parse(payments.at(-1)?.at ?? '');
        if (payments.length < pageItems || oldest < from) break;
      }
    }
  }
}

/** Whether Stripe took the payment at another time than the charges that were listed. */
async function isCharged({ stripe }: AuditServices, { id, paymentIntent }: StripePayment): Promise<boolean> {
  if (paymentIntent === undefined) return false;
  const outcome = await stripe.getPaymentIntent(paymentIntent);
  if (outcome.kind === 'unknown') throw new AuditBroke('Stripe did not answer');
  return (
    outcome.kind === 'ok' &&
    outcome.object.status === 'succeeded' &&
    outcome.object.metadata['payment'] === id
  );
}
