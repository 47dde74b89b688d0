/** The outcome of the payment from which a person comes back: /wallet?payment=ID. */
import { useEffect, useState } from 'preact/hooks';
import type { PaymentView } from '../../../../service/contract/portal-views.ts';
import { setQuery, usePlace } from '../../router.ts';
import { money } from '../../words/figures.ts';
import { isPending } from './poll-payments.ts';

export interface Returned {
  /** Empty: the person comes from elsewhere. */
  readonly id: string;
  /** Undefined: not read yet. Null: the account has no such payment. */
  readonly payment: PaymentView | null | undefined;
  readonly note: (id: string, seen: PaymentView | null) => void;
}

/** When the payment has ended, the address loses its id. The outcome stays on the page. */
export function useReturned(): Returned {
  const named = usePlace().query.get('payment') ?? '';
  const [id, setId] = useState(named);
  const [payment, setPayment] = useState<PaymentView | null>();
  useEffect(() => {
    if (named === '' || named === id) return;
    setId(named);
    setPayment(undefined);
  }, [named]);
  const note = (of: string, seen: PaymentView | null): void => {
    if (of !== id) return;
    setPayment(seen);
    if (seen === null || !isPending(seen)) setQuery({ payment: undefined });
  };
  return { id, payment, note };
}

/** The class of the notice, and its sentence. */
function wordsOf(payment: PaymentView | null | undefined): readonly [string, string] {
  if (payment === undefined) return ['', 'Checking your payment…'];
  if (payment === null)
    return ['warn', 'This account has no such payment. Did you begin it in another of your accounts?'];
  const amount = money(payment.amount);
  switch (payment.state) {
    case 'open':
      return ['', `Not paid yet: ${amount}. If you have paid, this page says so as soon as Stripe does.`];
    case 'processing':
      return [
        '',
        `Your payment of ${amount} is on its way. The wallet gets it as soon as the bank has paid.`,
      ];
    case 'succeeded':
      return ['good', `Payment received: ${amount}.`];
    case 'failed':
      return ['bad', `The payment of ${amount} failed, and the wallet got nothing. Try another card.`];
    case 'expired':
      return ['', `The payment of ${amount} was not made in time, and nothing was taken.`];
    case 'unknown':
      return [
        'warn',
        `Stripe does not report the outcome of your payment of ${amount}. The operator checks it.`,
      ];
    case 'held':
      return ['warn', `Your payment of ${amount} is held: the operator checks it before the wallet gets it.`];
  }
}

export function ReturnedNotice({ of: { id, payment } }: { of: Returned }) {
  if (id === '') return null;
  const [tone, words] = wordsOf(payment);
  return (
    <p class={`notice ${tone}`} role="status">
      {words}
    </p>
  );
}
