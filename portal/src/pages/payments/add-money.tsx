/** The dialog that begins a payment. The person pays on a page of Stripe, and comes back to the wallet. */
import { useEffect, useState } from 'preact/hooks';
import type { PaymentsView } from '../../../../service/contract/portal-views.ts';
import { useAction } from '../../api/hooks.ts';
import { useKept } from '../../kept.ts';
import { Button } from '../../ui/basics.tsx';
import { Amount, Form } from '../../ui/form.tsx';
import { Dialog } from '../../ui/page.tsx';
import { money } from '../../words/figures.ts';
import { centsOf } from './cents.ts';

/** What the dialog begins with. */
export interface BegunPayment {
  readonly savesCard: boolean;
}

const choices = [10, 25, 50, 100];

export function AddMoney(props: {
  begun: BegunPayment;
  of: PaymentsView;
  onClose: () => void;
  /** The person comes back from the page of Stripe by the button of the browser. */
  onBack: () => void;
}) {
  const { begun, of, onClose, onBack } = props;
  const { least, largest } = of;
  const [text, setText] = useKept('payment amount', '25');
  const [savesCard, setSavesCard] = useKept('payment saves card', begun.savesCard);
  const [isLeaving, setLeaving] = useState(false);
  const { isBusy, error, run } = useAction('beginPayment', ({ url }) => {
    setLeaving(true);
    location.assign(url);
  });
  useEffect(() => {
    // The browser may show this very page again, as it was left.
    const onShow = ({ persisted }: PageTransitionEvent): void => {
      if (persisted) onBack();
    };
    addEventListener('pageshow', onShow);
    return () => removeEventListener('pageshow', onShow);
  }, []);
  const { amount, error: wrong } = centsOf(text, least, largest);
  return (
    <Dialog title="Add money" onClose={onClose}>
      <Form
        submit={amount === undefined ? 'Go to the payment' : `Pay ${money(amount)}`}
        action={{ isBusy: isBusy || isLeaving, error }}
        isDisabled={amount === undefined}
        onCancel={onClose}
        onSubmit={() => {
          if (amount !== undefined) run({ body: { amount, save_card: savesCard } });
        }}
      >
        <div class="row amounts" role="group" aria-label="Amounts">
          {choices
            .filter((one) => one >= least && one <= largest)
            .map((one) => (
              <Button
                key={one}
                text={`$${one}`}
                aria-pressed={one === amount}
                onClick={() => setText(String(one))}
              />
            ))}
        </div>
        <Amount
          label="Amount (USD)"
          placeholder={`${money(least)} to ${money(largest)}`}
          value={text}
          onInput={setText}
          isRequired
          error={wrong ?? error?.fields.get('amount')}
        />
        <label class="check">
          <input
            type="checkbox"
            checked={savesCard}
            onChange={({ currentTarget: { checked } }) => setSavesCard(checked)}
          />{' '}
          Save this card for automatic top-up
        </label>
        <p class="hint">
          You pay on a page of Stripe and come back here. Stripe keeps the card; this service never sees its
          number.
        </p>
      </Form>
    </Dialog>
  );
}
