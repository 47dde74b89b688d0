/** What takes money back: refunds, which may fail later, and disputes. */
import type { StripeAccount } from './account.ts';
import { type Card, cards } from './cards.ts';
import { tell } from './events.ts';
import {
  type BalanceTransaction,
  type Charge,
  type Dispute,
  newDispute,
  newRefund,
  type Refund,
} from './objects.ts';
import { invalid, StripeRefusal } from './refusals.ts';

/** How long a refund is pending when it does not end at once. */
const refundSeconds = 300;
const disputeFee = 1_500;

interface Wanted {
  /** Absent: all that was not refunded yet. */
  readonly amount?: number | undefined;
  readonly reason?: string | undefined;
  readonly metadata?: Record<string, string> | undefined;
  /** Absent: as the card has it. */
  readonly as?: Refund['status'] | undefined;
}

export function refund(account: StripeAccount, charge: Charge, wanted: Wanted): Refund {
  const amount = refundable(account, charge, wanted.amount);
  const live = account.isLive(charge.id);
  const { id, created } = account.birth('re', live);
  const made = account.keep(newRefund({ id, created }, charge, { ...wanted, amount }), live);
  const { refund: habit }: Card = cards[account.state.cardOf[String(charge['payment_method'])] ?? 'pays'];
  made.status = wanted.as ?? habit?.begins ?? 'succeeded';
  if (wanted.as === undefined && habit)
    account.later(refundSeconds, { kind: 'end_refund', refund: made.id, as: habit.ends });
  charge.amount_refunded += amount;
  charge.refunded = charge.amount_refunded === charge.amount;
  tell(account, 'refund.created', made);
  tell(account, 'charge.refunded', charge);
  if (made.status === 'failed') failRefund(account, made);
  return made;
}

/** The amount of a refund, if there is so much left. */
function refundable(account: StripeAccount, charge: Charge, wanted: number | undefined): number {
  if (charge.status !== 'succeeded')
    throw invalid(`Charge ${charge.id} is ${charge.status}, so nothing can be refunded.`);
  const disputed = account.list('dispute', account.isLive(charge.id)).some(isOpenDisputeOf(charge));
  if (disputed)
    throw new StripeRefusal(400, {
      type: 'invalid_request_error',
      code: 'charge_disputed',
      message: `Charge ${charge.id} has been charged back; cannot issue a refund.`,
    });
  const refunds = account.list('refund', account.isLive(charge.id)).filter((one) => one.charge === charge.id);
  const left = refunds.reduce((rest, one) => (isGone(one) ? rest : rest - one.amount), charge.amount);
  if (left === 0)
    throw invalid(`Charge ${charge.id} has already been refunded.`, { code: 'charge_already_refunded' });
  const amount = wanted ?? left;
  if (amount > left)
    throw invalid(`Refund amount (${amount}) is greater than unrefunded amount on charge (${left})`, {
      param: 'amount',
    });
  return amount;
}

const isGone = ({ status }: Refund): boolean => status === 'failed' || status === 'canceled';

function isOpenDisputeOf(charge: Charge): (dispute: Dispute) => boolean {
  return (one) => one.charge === charge.id && ['needs_response', 'under_review', 'lost'].includes(one.status);
}

/** From which states a refund may come into a state. */
const before = {
  succeeded: ['pending'],
  canceled: ['pending'],
  failed: ['pending', 'succeeded'],
} as const satisfies Readonly<Record<string, readonly Refund['status'][]>>;

export type RefundEnd = keyof typeof before;

export function endRefund(account: StripeAccount, one: Refund, as: RefundEnd): void {
  if (!(before[as] as readonly string[]).includes(one.status))
    throw invalid(`The refund ${one.id} is ${one.status}, and cannot become ${as}.`);
  if (as === 'failed') {
    failRefund(account, one);
    return;
  }
  one.status = as;
  tell(account, 'refund.updated', one);
}

/** Not verified: whether charge.amount_refunded falls. Here it stays, so that nobody can rely on it. */
function failRefund(account: StripeAccount, one: Refund): void {
  one.status = 'failed';
  one.failure_reason = 'unknown';
  tell(account, 'refund.failed', one);
  tell(account, 'refund.updated', one);
}

export const disputeSteps = ['inquiry', 'closed', 'opened', 'under_review', 'won', 'lost'] as const;
export type DisputeStep = (typeof disputeSteps)[number];

/** From which states a step leads on. A step from no dispute begins one. */
const stepsFrom: Readonly<Record<DisputeStep, readonly Dispute['status'][]>> = {
  inquiry: [],
  closed: ['warning_needs_response'],
  opened: ['warning_needs_response'],
  under_review: ['needs_response'],
  won: ['needs_response', 'under_review'],
  lost: ['needs_response', 'under_review'],
};

/** Moves the dispute of a charge on, and begins it first when there is none. */
export function dispute(
  account: StripeAccount,
  charge: Charge,
  step: DisputeStep,
  amount = charge.amount,
): Dispute {
  const live = account.isLive(charge.id);
  const known = account.list('dispute', live).find((one) => one.charge === charge.id);
  const begun = known ?? begin(account, charge, step === 'inquiry' || step === 'closed', amount);
  if (!known && (step === 'inquiry' || step === 'opened')) return begun;
  if (!stepsFrom[step].includes(begun.status))
    throw invalid(`The dispute ${begun.id} is ${begun.status}, and no step "${step}" leads on from there.`);
  return moveOn(account, begun, step);
}

function begin(account: StripeAccount, charge: Charge, isInquiry: boolean, amount: number): Dispute {
  if (charge.status !== 'succeeded' || amount > charge.amount)
    throw invalid(`Of the charge ${charge.id} (${charge.status}), ${amount} cannot be disputed.`);
  const live = account.isLive(charge.id);
  const status = isInquiry ? 'warning_needs_response' : 'needs_response';
  const made = account.keep(newDispute(account.birth('du', live), charge, amount, status), live);
  charge.disputed = true;
  tell(account, 'charge.dispute.created', made);
  if (!isInquiry) move(account, made, -amount);
  return made;
}

function moveOn(account: StripeAccount, one: Dispute, step: DisputeStep): Dispute {
  switch (step) {
    case 'inquiry':
      return one;
    case 'opened':
      one.status = 'needs_response';
      tell(account, 'charge.dispute.updated', one);
      move(account, one, -one.amount);
      return one;
    case 'under_review':
      one.status = step;
      tell(account, 'charge.dispute.updated', one);
      return one;
    case 'closed':
      one.status = 'warning_closed';
      break;
    case 'won':
      one.status = step;
      move(account, one, one.amount);
      break;
    case 'lost':
      one.status = step;
      break;
  }
  tell(account, 'charge.dispute.closed', one);
  return one;
}

/** Takes money from the balance of the operator, or gives it back. */
function move(account: StripeAccount, one: Dispute, amount: number): void {
  const { id, created } = account.birth('txn', account.isLive(one.id));
  const fee = amount < 0 ? disputeFee : 0;
  const moved: BalanceTransaction = {
    id,
    created,
    object: 'balance_transaction',
    amount,
    available_on: created,
    balance_type: 'payments',
    currency: one.currency,
    description: null,
    exchange_rate: null,
    fee,
    fee_details: [],
    net: amount - fee,
    reporting_category: amount < 0 ? 'dispute' : 'dispute_reversal',
    source: one.id,
    status: 'available',
    type: 'adjustment',
  };
  one.balance_transactions = [...one.balance_transactions, moved];
  tell(account, `charge.dispute.funds_${amount < 0 ? 'withdrawn' : 'reinstated'}`, one);
}
