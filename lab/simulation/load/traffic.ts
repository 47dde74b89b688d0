/** The traffic of loads and outages: when requests come, and the schedule of the reconciler. */
import type { Service } from '../aws/deployed-service.ts';
import { type AccountPlan, rich } from '../clients/scenario.ts';
import { createStream } from '../world/dice.ts';
import type { VirtualTime } from '../world/time.ts';

const minuteMillis = 60_000;

/** An account that a load never brings to one of its limits. */
export const unlimited: AccountPlan = {
  ...rich,
  balanceMicros: 1_000_000_000_000,
  maxConcurrent: 100_000,
  postRate: 1_000_000,
  secret: false,
};

/**
 * Milliseconds from the start to each arrival in turn. The arrivals are independent, so the gaps between them are
 * exponential: quiet and busy seconds are as likely as with real clients.
 *
 * @param perSecond the rate at a moment, in milliseconds from the start
 */
export function* arrivals(
  seed: number,
  perSecond: (sinceStart: number) => number,
  lengthMillis: number,
): Generator<number> {
  const stream = createStream(seed);
  for (let at = 0; ;) {
    at += (-Math.log(1 - stream()) * 1000) / perSecond(at);
    if (at >= lengthMillis) return;
    yield at;
  }
}

/** Milliseconds from the start to each arrival of a program that waits equally long between two of them. */
export function* evenly(perSecond: number, lengthSeconds: number): Generator<number> {
  for (let number = 0; number < perSecond * lengthSeconds; number += 1) yield (number * 1000) / perSecond;
}

/** Calls `send` at each of the moments, which are milliseconds after `startAt`. */
export function sendAt(
  time: VirtualTime,
  startAt: number,
  moments: Iterator<number>,
  send: () => void,
): void {
  const next = moments.next();
  if (next.done === true) return;
  time.after(Math.max(0, Math.round(startAt + next.value - time.now())), () => {
    send();
    sendAt(time, startAt, moments, send);
  });
}

/** Runs the reconciler each minute, as its schedule does. */
export function reconcileEachMinute(time: VirtualTime, service: Service): void {
  time.after(minuteMillis, () => {
    void service.reconcile({});
    reconcileEachMinute(time, service);
  });
}
