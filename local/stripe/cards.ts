/**
 * The ways to pay that the page offers. Those with a number behave as Stripe's own test cards
 * (docs.stripe.com/testing); what begins with "later" pays once and fails when it is charged off session.
 */
export interface Decline {
  readonly code: 'card_declined' | 'expired_card' | 'authentication_required';
  readonly decline_code?: string;
  readonly message: string;
}

type Outcome =
  | { readonly kind: 'pays' }
  | { readonly kind: 'declines'; readonly decline: Decline }
  /** The money comes, or does not come, after some minutes. */
  | { readonly kind: 'processes'; readonly ends: 'succeeded' | 'failed' };

export interface Card {
  readonly label: string;
  readonly type: 'card' | 'us_bank_account';
  readonly brand: string;
  readonly last4: string;
  /** While the payer is at the page. */
  readonly atThePage: Outcome;
  /** When the saved card is charged and nobody is there. */
  readonly offSession: Outcome;
  /** Absent: a refund succeeds at once. */
  readonly refund?: { readonly begins: 'pending' | 'succeeded'; readonly ends: 'succeeded' | 'failed' };
}

const pays: Outcome = { kind: 'pays' };
const declines = (decline: Decline): Outcome => ({ kind: 'declines', decline });
const processes = (ends: 'succeeded' | 'failed'): Outcome => ({ kind: 'processes', ends });

const declined = declines({
  code: 'card_declined',
  decline_code: 'generic_decline',
  message: 'Your card was declined.',
});
const insufficient = declines({
  code: 'card_declined',
  decline_code: 'insufficient_funds',
  message: 'Your card has insufficient funds.',
});
const expired = declines({
  code: 'expired_card',
  decline_code: 'expired_card',
  message: 'Your card has expired.',
});
const authentication = declines({
  code: 'authentication_required',
  decline_code: 'authentication_required',
  message: 'Your card was declined. This transaction requires authentication.',
});

const visa = { type: 'card', brand: 'visa' } as const;
const bank = { type: 'us_bank_account', brand: 'bank' } as const;

export const cards = {
  pays: { label: 'Card that pays', ...visa, last4: '4242', atThePage: pays, offSession: pays },
  declined: {
    label: 'Card that is declined',
    ...visa,
    last4: '0002',
    atThePage: declined,
    offSession: declined,
  },
  insufficient_funds: {
    label: 'Card without enough money',
    ...visa,
    last4: '9995',
    atThePage: insufficient,
    offSession: insufficient,
  },
  expired: {
    label: 'Card that has expired',
    ...visa,
    last4: '0069',
    atThePage: expired,
    offSession: expired,
  },
  authentication: {
    label: 'Card that wants its owner each time',
    ...visa,
    last4: '3184',
    atThePage: pays,
    offSession: authentication,
  },
  later_declined: {
    label: 'Card that pays now and is declined later',
    ...visa,
    last4: '0341',
    atThePage: pays,
    offSession: declined,
  },
  later_expired: {
    label: 'Card that pays now and has expired later',
    ...visa,
    last4: '0070',
    atThePage: pays,
    offSession: expired,
  },
  refund_pending: {
    label: 'Card whose refunds take minutes',
    ...visa,
    last4: '7726',
    atThePage: pays,
    offSession: pays,
    refund: { begins: 'pending', ends: 'succeeded' },
  },
  refund_fails: {
    label: 'Card whose refunds fail after minutes',
    ...visa,
    last4: '5126',
    atThePage: pays,
    offSession: pays,
    refund: { begins: 'pending', ends: 'failed' },
  },
  bank_succeeds: {
    label: 'Bank account: the money comes after minutes',
    ...bank,
    last4: '6789',
    atThePage: processes('succeeded'),
    offSession: processes('succeeded'),
  },
  bank_fails: {
    label: 'Bank account: the payment fails after minutes',
    ...bank,
    last4: '1116',
    atThePage: processes('failed'),
    offSession: processes('failed'),
  },
} as const satisfies Readonly<Record<string, Card>>;

export type CardName = keyof typeof cards;

export function isCardName(text: string): text is CardName {
  return Object.hasOwn(cards, text);
}
