/**
 * A fake of Stripe, for a machine without an account there. It has real states, errors, idempotency, events and
 * deliveries, and no network, file or clock of its own: `npm start` and the simulation hand them in.
 */
import {
  openAccount,
  type StripeAccount,
  type StripeRequest,
  type StripeState,
  type StripeWorld,
  type Work,
} from './account.ts';
import { answerCall, type StripeReply, takeEffect } from './call.ts';
import { deliver } from './events.ts';
import { expire, settle } from './payments.ts';
import { endRefund } from './reversals.ts';

export function createFakeStripe(state: StripeState, world: StripeWorld) {
  const account = openAccount(state, world);
  let sending: Promise<void> = Promise.resolve();
  return {
    account,
    /** Answers one request of the API. Its effect is there when the call returns; its events come with `runDue`. */
    call: (request: StripeRequest): StripeReply => answerCall(account, request),
    /** Unix milliseconds at which something falls due. Undefined: nothing will. */
    nextAt: (): number | undefined =>
      state.due.length === 0 ? undefined : Math.min(...state.due.map(({ at }) => at)),
    /** Does all that is due, and waits until every event that is due was sent, one after the other. */
    runDue: async (): Promise<void> => {
      for (let work = takeDue(account); work; work = takeDue(account)) {
        const due = work;
        if (due.kind === 'deliver') sending = sending.then(() => deliver(account, due));
        else perform(account, due);
      }
      await sending;
    },
  };
}

/** The oldest work that is due. Of two with the same time, the one that was planned first. */
function takeDue({ state, world }: StripeAccount): Work | undefined {
  const now = world.now();
  let first: StripeState['due'][number] | undefined;
  for (const one of state.due) if (one.at <= now && (!first || one.at < first.at)) first = one;
  if (first) state.due = state.due.filter((one) => one !== first);
  return first?.work;
}

/** Does what was planned, unless somebody was faster. */
function perform(account: StripeAccount, work: Exclude<Work, { kind: 'deliver' }>): void {
  switch (work.kind) {
    case 'expire': {
      const session = account.find('checkout.session', work.session);
      if (session?.status === 'open') expire(account, session);
      return;
    }
    case 'settle': {
      const intent = account.find('payment_intent', work.intent);
      if (intent?.status === 'processing') settle(account, intent, work.as);
      return;
    }
    case 'end_refund': {
      const refund = account.find('refund', work.refund);
      if (refund?.status === 'pending') endRefund(account, refund, work.as);
      return;
    }
    case 'take_effect':
      takeEffect(account, work.request);
  }
}
