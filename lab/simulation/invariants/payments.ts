/**
 * The invariants of payments (P1, P2, P6 to P9): what an account gets is what stands at Stripe. They are computed from
 * commits and from the state of Stripe, and from nothing that the product says. top-ups.ts has those of automatic ones.
 */
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import type { Item } from '../../../local/dynamodb/attributes.ts';
import type { PaymentIntent } from '../../../local/stripe/objects.ts';
import type { Service } from '../aws/deployed-service.ts';
import type { PaymentObserver } from '../aws/payments.ts';
import type { Change } from '../aws/simulated-table.ts';
import type { AskedOfStripe } from '../network/stripe-in-world.ts';
import type { SentEvent } from '../network/stripe-webhooks.ts';
import type { Invocation, World } from '../world/simulated-world.ts';
import { type Accuse, textOf } from './money-books.ts';
import { isOfStripe, madeAt, numberIn, type PaymentBook, paymentIdOf } from './payment-book.ts';
import { createPaymentNoticeInvariants } from './payment-notices.ts';
import { createTopUpInvariants } from './top-ups.ts';

const microsOfCent = 10_000;
const minuteMillis = 60_000;
/** Whatever was lost, all is right an hour after Stripe answers again. */
const mendedMillis = 61 * minuteMillis;

/** What nobody but the operator may read. */
const secretForm = /\b(rk_(test|live)_|whsec_|pm_[A-Za-z0-9]{16}|cus_[A-Za-z0-9]{16})/;

export function createPaymentInvariants(
  world: World,
  service: () => Service | undefined,
  wroteIn: (invocation: string) => readonly string[],
  accuse: Accuse,
) {
  const books = new Map<string, PaymentBook>();
  /** The payment of each PaymentIntent, as it was made. */
  const paymentOf = new Map<string, string>();
  const keys = new Map<string, Set<string>>();
  const askedIn = new Set<string>();
  let restoredAt = 0;
  const topUps = createTopUpInvariants(world, service, books, accuse);
  const notices = createPaymentNoticeInvariants(service, accuse);

  function intentsOf(id: string): PaymentIntent[] {
    return (
      service()
        ?.payments.stripe.intents()
        .filter((one) => paymentOf.get(one.id) === id) ?? []
    );
  }

  /** What the person was to pay without tax, by what stands at Stripe. */
  function orderedMicros(intent: PaymentIntent): number {
    const session = service()
      ?.payments.stripe.sessions()
      .find((one) => one.payment_intent === intent.id);
    return (session?.amount_subtotal ?? intent.amount) * microsOfCent;
  }

  /** At the PaymentIntent, or at its charge. */
  function hasMetadata({ id, metadata, latest_charge }: PaymentIntent): boolean {
    const charge = service()?.payments.stripe.account.find('charge', latest_charge ?? '');
    return (
      (metadata['payment'] ?? (charge?.metadata as PaymentIntent['metadata'] | undefined)?.['payment']) ===
      paymentOf.get(id)
    );
  }

  /** Why the service must hold what Stripe took. */
  function isOther(intent: PaymentIntent): boolean {
    return intent.currency !== 'usd' || intent.amount_received * microsOfCent < orderedMicros(intent);
  }

  function follow(change: Change): PaymentBook | undefined {
    const { before, after, pk } = change;
    if (!isOfStripe(after ?? before)) return undefined;
    const id = paymentIdOf(change);
    if (!after) {
      accuse('a payment is never deleted', id);
      return undefined;
    }
    let book = books.get(id);
    if (!book) {
      book = {
        id,
        account: pk.slice('ACCOUNT#'.length),
        kind: textOf(after, 'kind'),
        amountMicros: numberIn(after, 'amountMicros'),
        month: new Date(madeAt(id)).toISOString().slice(0, 7).replace('-', '_'),
        state: '',
        ...{ credits: 0, creditedMicros: 0, reversedMicros: 0 },
      };
      books.set(id, book);
    }
    book.state = textOf(after, 'state');
    if (numberIn(after, 'amountMicros') !== book.amountMicros || textOf(after, 'month') !== book.month)
      accuse('a payment keeps its amount and its month', `${id} ${textOf(after, 'month')}`);
    return book;
  }

  function enter({ after, before }: Change): void {
    const book = books.get(textOf(after, 'payment'));
    if (!book || before) return;
    const amount = numberIn(after, 'amountMicros');
    if (textOf(after, 'kind') === 'payment_reversed') {
      book.reversedMicros -= amount;
      return;
    }
    book.credits += 1;
    book.creditedMicros += amount;
    const [intent] = intentsOf(book.id).filter(({ status }) => status === 'succeeded');
    if (!intent) accuse('only what Stripe took is credited', book.id);
    else if (amount !== orderedMicros(intent) || amount !== book.amountMicros)
      accuse('a payment is credited its amount', `${book.id}: ${amount} of ${orderedMicros(intent)}`);
    if (intent && isOther(intent)) accuse('what is not as ordered is held', book.id);
  }

  function isConsistent(book: PaymentBook, item: Item | undefined): void {
    const { id, credits, creditedMicros, reversedMicros } = book;
    if (credits > 1) accuse('a payment is credited once', `${id}: ${credits}`);
    if (numberIn(item, 'creditedMicros') !== creditedMicros)
      accuse('a payment is credited with its row', `${id}: ${creditedMicros}`);
    if (numberIn(item, 'reversedMicros') !== reversedMicros)
      accuse('a payment is reversed with its rows', `${id}: ${reversedMicros}`);
    if (reversedMicros < 0 || reversedMicros > creditedMicros)
      accuse('no more goes back than was credited', `${id}: ${reversedMicros} of ${creditedMicros}`);
  }

  /** What must have gone back: refunds that stand, and what disputes took and did not give back. */
  function targetOf(book: PaymentBook, intent: PaymentIntent): number {
    const stripe = service()?.payments.stripe.account;
    const refunds = stripe?.list('refund', false).filter((one) => one.payment_intent === intent.id) ?? [];
    const disputes = stripe?.list('dispute', false).filter((one) => one.payment_intent === intent.id) ?? [];
    let cents = 0;
    for (const one of refunds) if (one.status !== 'failed' && one.status !== 'canceled') cents += one.amount;
    for (const one of disputes) for (const moved of one.balance_transactions) cents -= moved.amount;
    return Math.min(book.creditedMicros, Math.round((book.creditedMicros * cents) / intent.amount_received));
  }

  function isAsAtStripe(intent: PaymentIntent): void {
    const id = paymentOf.get(intent.id) ?? '';
    const book = books.get(id);
    const isPaid = intent.status === 'succeeded';
    if (!isPaid || isOther(intent)) {
      if (book && book.credits > 0) accuse('only what Stripe took is credited', id);
      if (isPaid && hasMetadata(intent) && book?.state !== 'held')
        accuse('what is not as ordered is held', `${id} is ${book?.state ?? 'unknown'}`);
      return;
    }
    // Without all metadata nobody knows whose the payment is. It is held, unless it was credited before.
    if (!hasMetadata(intent)) return;
    if (book?.credits !== 1) accuse('what Stripe took is credited', `${id} is ${book?.state ?? 'unknown'}`);
    else if (book.reversedMicros !== targetOf(book, intent))
      accuse(
        'what went back at Stripe is debited',
        `${id}: ${book.reversedMicros} of ${targetOf(book, intent)}`,
      );
  }

  function allIsAsAtStripe(): void {
    for (const intent of service()?.payments.stripe.intents() ?? [])
      if (paymentOf.has(intent.id)) isAsAtStripe(intent);
  }

  /** One Idempotency-Key a payment, and the same request with it. */
  function keyIsOfThePayment({ path, method, idempotencyKey, parameters }: AskedOfStripe): void {
    if (method !== 'POST' || !/^\/v1\/(payment_intents|checkout\/sessions)$/.test(path)) return;
    const id = parameters.get('metadata[payment]') ?? '';
    const known = keys.get(id) ?? new Set<string>();
    keys.set(id, known.add(`${idempotencyKey ?? ''} ${parameters.toString()}`));
    if (idempotencyKey === undefined || known.size > 1)
      accuse('one Idempotency-Key a payment', `${id}: ${[...known].join('; ')}`);
  }

  function learnIntents(): void {
    const paid = new Map<string, number>();
    for (const { id, status, metadata } of service()?.payments.stripe.intents() ?? []) {
      if (!paymentOf.has(id) && metadata['payment'] !== undefined) paymentOf.set(id, metadata['payment']);
      const payment = paymentOf.get(id);
      if (status !== 'succeeded' || payment === undefined) continue;
      paid.set(payment, (paid.get(payment) ?? 0) + 1);
    }
    for (const [payment, times] of paid)
      if (times > 1) accuse('a payment is taken once at Stripe', `${payment}: ${times}`);
  }

  /** A forged event is refused, or ignored, and nothing follows from it. */
  function isRefused(sent: SentEvent, invocation: Invocation | undefined, status: number): void {
    if (!invocation) return;
    const skew = Math.abs(world.clocks.skewOf(invocation.name));
    const { forgery } = sent;
    // For a clock that is wrong by the same time, a stale signature is of now.
    if (forgery === 'stale' && skew > minuteMillis) return;
    const isIgnored = forgery === 'other mode';
    const isTaken = isIgnored ? status >= 200 && status < 300 : status === 400;
    const isExcused =
      invocation.faulted || skew > minuteMillis || world.incidents.has('webhook secret rolled');
    if (forgery === undefined) {
      if (status === 400 && !isExcused) accuse('a genuine event is let in', invocation.id);
      return;
    }
    if (!isIgnored && status < 300) accuse('a forged event is refused', `${forgery}: ${status}`);
    if (!isTaken && !isExcused) accuse('a forged event is refused', `${forgery}: ${status}`);
    const wrote = wroteIn(invocation.id);
    if (wrote.length > 0) accuse('a forged event writes nothing', `${forgery}: ${wrote.join(', ')}`);
    if (askedIn.has(invocation.id)) accuse('a forged event asks nothing', forgery);
  }

  return {
    observer: {
      onAsked: (asked) => {
        if (asked.invocation) askedIn.add(asked.invocation.id);
        keyIsOfThePayment(asked);
      },
      onChanged: () => {
        learnIntents();
        topUps.onChanged(paymentOf);
      },
      onEventAnswered: isRefused,
    } satisfies PaymentObserver,
    /** Forgets all commits, but nothing of Stripe. */
    restart: (): void => {
      restoredAt = world.time.now();
      books.clear();
      topUps.restart();
      notices.restart();
    },
    onCommit: (changes: readonly Change[]) => {
      const touched = changes.flatMap((change) => {
        if (!change.sk.startsWith('PAYMENT#')) return [];
        const book = follow(change);
        return book ? [book] : [];
      });
      for (const change of changes) if (change.sk.startsWith('LEDGER#')) enter(change);
      for (const change of changes) {
        const book = touched.find(({ id }) => change.sk.startsWith('PAYMENT#') && id === paymentIdOf(change));
        if (book) isConsistent(book, change.after);
      }
      topUps.onCommit(changes);
      notices.onCommit(changes);
    },
    /** No key, secret or card in an answer. */
    onServed: ({ name }: Invocation, { body }: APIGatewayProxyStructuredResultV2) => {
      const found = name === 'portal-pay' ? secretForm.exec(body ?? '') : null;
      if (found) accuse('nothing secret in an answer', found[0]);
    },
    onText: (text: string) => {
      const found = secretForm.exec(text);
      if (found) accuse('nothing secret in logs and histories', `${found[0]} in ${text.slice(0, 200)}`);
    },
    look: () => {
      const stripe = service()?.payments.stripe;
      if (!stripe || stripe.nextAt() !== undefined) return;
      if (world.time.now() > Math.max(stripe.lastChangeAt(), world.lastFaultAt, restoredAt) + mendedMillis)
        allIsAsAtStripe();
    },
    atRest: () => {
      allIsAsAtStripe();
      topUps.atRest();
    },
  };
}
