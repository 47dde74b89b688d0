/**
 * FollowPayments, each minute: the events of Stripe that no webhook has brought, the payments that are due, and the
 * accounts below their threshold. Everything may run twice at once, and end at any line.
 */
import { Overloaded } from '../values/errors.ts';
import { inLanes } from '../values/lanes.ts';
import { errorName } from '../values/runtime.ts';
import type { WorkerServices } from './open.ts';
import { noteOutcome } from './note-outcome.ts';
import { eventTypes, followHint, type Hinted } from './payment-hint.ts';
import { NotSetUp } from './payment-system.ts';
import type { StripeEvent } from './stripe/objects.ts';
import { followDue, topUp, type ToppedUp } from './top-up.ts';

const minute = 60_000;
const listEveryMillis = 10 * minute;
/** Events may appear late in the list of Stripe. */
const overlapMillis = 60 * minute;
const behindMillis = 60 * minute;
/** The days for which Stripe lists events. */
const listedMillis = 30 * 24 * 60 * minute;
const lanes = 4;
/** A call of Stripe may take 20 s, and one payment takes a few of them. */
const leastMillis = 60_000;

export interface PaymentReport {
  readonly events: number;
  readonly due: number;
  readonly begun: number;
}

/** @param timeLeft the milliseconds until Lambda ends the function */
export async function followPayments(
  services: WorkerServices,
  timeLeft: () => number,
): Promise<PaymentReport> {
  const isInTime = (): boolean => timeLeft() > leastMillis;
  try {
    await services.livemode();
  } catch (error) {
    if (!(error instanceof NotSetUp)) throw error;
    services.log.info('payments_not_set_up');
    return { events: 0, due: 0, begun: 0 };
  }
  const report = {
    events: await readEvents(services, isInTime),
    due: await followAllDue(services, isInTime),
    begun: await beginTopUps(services, isInTime),
  };
  services.log.info('payments_followed', report);
  return report;
}

/** Reads the events since the cursor, the oldest first, and moves the cursor past those that were handled. */
async function readEvents(services: WorkerServices, isInTime: () => boolean): Promise<number> {
  const { payments, clock, log } = services;
  const nowMillis = clock.now();
  const cursor = await payments.readCursor();
  if (cursor !== undefined && nowMillis - cursor < listEveryMillis) return 0;
  const since = Math.max((cursor ?? 0) - overlapMillis, nowMillis - listedMillis);
  const events = await listed(services, since);
  const until = events && (await followEvents(services, events, isInTime));
  const reached = until === 'all' ? nowMillis : until;
  if (reached !== undefined && reached > (cursor ?? 0)) await payments.moveCursor(reached);
  if (nowMillis - (reached ?? cursor ?? nowMillis) > behindMillis) log.alarm('payments_behind');
  return events?.length ?? 0;
}

/** Undefined: a page was not answered, so the later pages are unknown. */
async function listed(
  { stripe, ...services }: WorkerServices,
  sinceMillis: number,
): Promise<readonly StripeEvent[] | undefined> {
  const events: StripeEvent[] = [];
  for (;;) {
    const page = await stripe.listEvents(eventTypes, Math.floor(sinceMillis / 1_000), events.at(-1)?.id);
    if (page.kind !== 'ok') {
      noteOutcome(services, { kind: 'later', why: page.kind === 'unknown' ? page.why : 'refused' });
      return undefined;
    }
    events.push(...page.object.items);
    if (!page.object.hasMore || page.object.items.length === 0) return events;
  }
}

/** Up to when all events were followed. One check of a payment covers all of its events. */
async function followEvents(
  services: WorkerServices,
  events: readonly StripeEvent[],
  isInTime: () => boolean,
): Promise<number | 'all'> {
  const newest = new Map<string, StripeEvent>();
  for (const event of events) {
    const key = event.paymentIntent ?? event.objectId;
    if (!newest.has(key)) newest.set(key, event);
  }
  const missed: number[] = [];
  await inLanes(lanes, [...newest.values()].toReversed(), async (event) => {
    const followed = isInTime() && (await quietly(services, () => followHint(services, event)));
    if (!followed || followed.kind === 'later') missed.push(event.created * 1_000);
  });
  return missed.length === 0 ? 'all' : Math.min(...missed);
}

async function followAllDue(services: WorkerServices, isInTime: () => boolean): Promise<number> {
  const { payments, clock } = services;
  let count = 0;
  for await (const page of payments.due(clock.now())) {
    await inLanes(lanes, page, async (id) => {
      if (!isInTime()) return;
      count += 1;
      await quietly(services, async () => {
        const payment = await payments.read(id);
        if (!payment) return undefined;
        // First, so that a payment whose check breaks off does not stop the others.
        await payments.postpone(payment, clock.now());
        return followDue(services, payment);
      });
    });
  }
  return count;
}

async function beginTopUps(services: WorkerServices, isInTime: () => boolean): Promise<number> {
  let begun = 0;
  for await (const page of services.topUps.running()) {
    const poor = await services.topUps.belowThreshold(page);
    await inLanes(lanes, poor, async (account) => {
      if (!isInTime()) return;
      const outcome = await quietly(services, () => topUp(services, account));
      if (outcome && outcome.kind !== 'not_begun') begun += 1;
    });
  }
  return begun;
}

/**
 * One payment that fails must not stop the others. Undefined: it failed, and the next run checks it again.
 */
async function quietly<Outcome extends Hinted | ToppedUp>(
  services: WorkerServices,
  work: () => Promise<Outcome | undefined>,
): Promise<Outcome | undefined> {
  try {
    const outcome = await work();
    noteOutcome(services, outcome);
    return outcome;
  } catch (error) {
    if (error instanceof Overloaded) services.log.info('payment_busy');
    else services.log.alarm('request_failed', { error: errorName(error) });
    return undefined;
  }
}
