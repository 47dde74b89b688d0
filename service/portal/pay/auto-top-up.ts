/** The automatic top-up, as the owner of an account manages it. */
import * as z from 'zod/mini';
import type { AutoTopUpView } from '../../contract/portal-views.ts';
import { parseBody } from '../../operated/body.ts';
import { type AutoTopUp, isOfOperator } from '../../payments/auto-top-up.ts';
import {
  asMicros,
  formatUsd,
  fromUsd,
  largestAvailableMicros,
  type Micros,
  toUsd,
} from '../../values/money.ts';
import { Problem } from '../../values/problem.ts';
import { monthOf } from '../../values/time.ts';
import type { PortalAnswer } from '../http/caller.ts';
import { changedMeanwhile } from '../http/portal-request.ts';
import type { PayHandle, PayServices } from './open.ts';
import { amountProblem } from './payments.ts';

const leastThreshold = 1;
const leastAmount = 10;
const largest = 1_000;

const schema = z.strictObject({
  is_on: z.boolean(),
  threshold: z.number(),
  amount: z.number(),
  monthly_cap: z.number(),
  version: z.number(),
});

export const getAutoTopUp: PayHandle<'getAutoTopUp'> = async (_request, { account }, services) =>
  shown(await services.topUps.read(account.id), services);

/** PUT /auto-top-up. The worker checks the account within a minute. */
export const setAutoTopUp: PayHandle<'setAutoTopUp'> = async (request, { account }, services) => {
  const body = parseBody(request, schema, ({ threshold, amount, monthly_cap: cap }) => [
    amountProblem('threshold', threshold, leastThreshold, largest),
    amountProblem('amount', amount, Math.max(leastAmount, threshold), largest),
    amountProblem('monthly_cap', cap, amount, toUsd(largestAvailableMicros)),
  ]);
  const before = await services.topUps.read(account.id);
  if (before.version !== body.version) throw changedMeanwhile();
  if (body.is_on && !before.card) throw noCard();
  if (body.is_on && services.paymentSettings.automatic_tax) throw noTax();
  const micros = (amount: number): Micros => asMicros(fromUsd(amount));
  const next = {
    isOn: body.is_on,
    thresholdMicros: micros(body.threshold),
    amountMicros: micros(body.amount),
    monthlyCapMicros: micros(body.monthly_cap),
  };
  if (!(await services.topUps.choose(before, next))) throw changedMeanwhile();
  const note = body.is_on
    ? `${formatUsd(next.amountMicros)} below ${formatUsd(next.thresholdMicros)}, at most ${formatUsd(next.monthlyCapMicros)} a month`
    : 'off';
  return { ...(await shown(await services.topUps.read(account.id), services)), logged: { note } };
};

/** POST /auto-top-up/resume: ends a pause that is the owner's to end. */
export const resumeAutoTopUp: PayHandle<'resumeAutoTopUp'> = async (_request, { account }, services) => {
  const before = await services.topUps.read(account.id);
  if (isOfOperator(before.paused)) throw ofOperator();
  if (before.paused !== undefined && !(await services.topUps.resume(before))) throw changedMeanwhile();
  return shown(await services.topUps.read(account.id), services);
};

/** DELETE /auto-top-up/card: Stripe forgets the card first, so that nothing can charge it afterwards. */
export const removeCard: PayHandle<'removeCard'> = async (_request, { account }, services) => {
  const before = await services.topUps.read(account.id);
  const { card } = before;
  if (card) {
    const outcome = await services.stripe.detachPaymentMethod(card.paymentMethod);
    // A card that Stripe does not know is gone already.
    if (outcome.kind === 'unknown') throw notDetached();
    if (!(await services.topUps.removeCard(before))) throw changedMeanwhile();
  }
  return {
    ...(await shown(await services.topUps.read(account.id), services)),
    logged: { note: card?.last4 ?? 'none' },
  };
};

async function shown(
  { isOn, choice, reservedMicros, card, paused, open, version }: AutoTopUp,
  { clock, livemode }: PayServices,
): Promise<PortalAnswer<AutoTopUpView>> {
  const usd = (micros: Micros | undefined): number | null => (micros === undefined ? null : toUsd(micros));
  const body: AutoTopUpView = {
    is_on: isOn,
    threshold: usd(choice?.thresholdMicros),
    amount: usd(choice?.amountMicros),
    monthly_cap: usd(choice?.monthlyCapMicros),
    used: toUsd(reservedMicros[monthOf(clock.now())] ?? asMicros(0)),
    card: card
      ? { brand: card.brand, last4: card.last4, expiry_month: card.expiryMonth, expiry_year: card.expiryYear }
      : null,
    paused: paused ?? null,
    open_payment: open ?? null,
    test_mode: !(await livemode()),
    version,
  };
  return { status: 200, body };
}

function noCard(): Problem {
  const message = 'There is no saved card. Add money once, and have the card saved.';
  return new Problem('ERR_CONFLICT', message, { reason: 'no_card' });
}

function noTax(): Problem {
  const message = 'The operator adds tax to payments, which an automatic payment cannot have.';
  return new Problem('ERR_CONFLICT', message, { reason: 'automatic_tax' });
}

function ofOperator(): Problem {
  const message = 'Only the operator can end this pause.';
  return new Problem('ERR_CONFLICT', message, { reason: 'paused_by_operator' });
}

function notDetached(): Problem {
  const message = 'The payment system does not answer. The card is still saved: try again in a minute.';
  return new Problem('ERR_PROVIDER_UNAVAILABLE', message, { reason: 'payment_system_unavailable' });
}
