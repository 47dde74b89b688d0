/** The automatic top-up: what it is set to, the card that pays, and why it has stopped. */
import type { AutoTopUpView } from '../../../../service/contract/portal-views.ts';
import { type useResource, useAction } from '../../api/hooks.ts';
import { useKept } from '../../kept.ts';
import { useMay, OperatorContact } from '../../session.tsx';
import { Badge, Button, Card, Facts, Meter, Money, type Tone } from '../../ui/basics.tsx';
import { Form } from '../../ui/form.tsx';
import { announce, Dialog } from '../../ui/page.tsx';
import { Failed, Loaded } from '../../ui/states.tsx';
import { money } from '../../words/figures.ts';
import { TopUpForm } from './top-up-form.tsx';

type TopUp = ReturnType<typeof useResource<'getAutoTopUp'>>;

export function AutoTopUp({ of: topUp, onAddMoney }: { of: TopUp; onAddMoney: () => void }) {
  const mayChange = useMay('setAutoTopUp');
  const [open, setOpen] = useKept<'form' | 'card' | ''>('top-up', '');
  const done = (words: string) => (answer: AutoTopUpView) => {
    topUp.set(answer);
    setOpen('');
    announce(words);
  };
  const save = useAction('setAutoTopUp', done('The automatic top-up is saved.'));
  const resume = useAction('resumeAutoTopUp', done('The automatic top-up continues.'));
  const remove = useAction('removeCard', done('The card is removed.'));
  const show = (next: typeof open): void => {
    save.clear();
    remove.clear();
    setOpen(next);
  };
  const { data } = topUp;
  const isChosen = data?.threshold != null;
  // An action that a fresh sign-in finished has no open dialog for its error.
  const error = resume.error ?? (open === '' ? (save.error ?? remove.error) : undefined);
  return (
    <Card
      title="Automatic top-up"
      actions={
        mayChange &&
        data && (
          <>
            {data.is_on && <SwitchOff of={data} action={save} />}
            <Button text={isChosen ? 'Change' : 'Set it up'} class="small" onClick={() => show('form')} />
          </>
        )
      }
    >
      {error && <Failed error={error} onRetry={error.isStale ? topUp.reload : undefined} />}
      <Loaded of={topUp} rows={2}>
        {(of) => (
          <>
            {of.paused !== null && (
              <div class="notice bad">
                <p>
                  {reasons[of.paused]}{' '}
                  {isOfOperator(of) && <OperatorContact command="payments clear ACCOUNT" />}
                </p>
                {mayChange && !isOfOperator(of) && (
                  <p class="row">
                    {of.card && <SaveCard onPress={onAddMoney} />}
                    <Button
                      text="Resume"
                      class="small"
                      isBusy={resume.isBusy}
                      onClick={() => resume.run({})}
                    />
                  </p>
                )}
              </div>
            )}
            {isChosen ? (
              <Chosen of={of} onRemove={mayChange ? () => show('card') : undefined} />
            ) : (
              <p class="dim">Your card adds money automatically when less is available than you choose.</p>
            )}
            {of.card === null && (
              <p>No card is saved. {mayChange && !isOfOperator(of) && <SaveCard onPress={onAddMoney} />}</p>
            )}
            {open === 'form' && (
              <Dialog title="Automatic top-up" onClose={() => show('')}>
                <TopUpForm of={of} action={save} onReload={topUp.reload} onCancel={() => show('')} />
              </Dialog>
            )}
            {open === 'card' && of.card && (
              <Dialog title="Remove the card" onClose={() => show('')}>
                <Form
                  submit="Remove the card"
                  isDangerous
                  action={remove}
                  onReload={topUp.reload}
                  onCancel={() => show('')}
                  onSubmit={() => remove.run({})}
                >
                  <p>
                    Stripe forgets <CardName of={of.card} />, and nothing is added by itself any more. Money
                    can still be added by hand.
                  </p>
                </Form>
              </Dialog>
            )}
          </>
        )}
      </Loaded>
    </Card>
  );
}

const isOfOperator = ({ paused }: AutoTopUpView): boolean => paused === 'dispute' || paused === 'operator';

const SaveCard = ({ onPress }: { onPress: () => void }) => (
  <Button text="Add money and save the card" class="small" onClick={onPress} />
);

/** Off is one press. The figures stay. */
function SwitchOff({
  of,
  action,
}: {
  of: AutoTopUpView;
  action: ReturnType<typeof useAction<'setAutoTopUp'>>;
}) {
  const { threshold, amount, monthly_cap: cap, version } = of;
  if (threshold === null || amount === null || cap === null) return null;
  const body = { is_on: false, threshold, amount, monthly_cap: cap, version };
  return (
    <Button text="Switch off" class="small" isBusy={action.isBusy} onClick={() => action.run({ body })} />
  );
}

/** Why nothing is added, and what to do. */
const reasons: Readonly<Record<NonNullable<AutoTopUpView['paused']>, string>> = {
  authentication_required:
    'The bank wants you to confirm the payment. Add money with this card or another one, and save the card again.',
  declined:
    'The card was declined. Add money with another card and save that one, or resume when the card works again.',
  card_expired: 'The card has expired. Add money with another card, and save that one.',
  unknown:
    'The outcome of the last payment has been unknown for a day. Check the payments below, then resume.',
  dispute: 'It stopped because a payment is disputed.',
  operator: 'The operator stopped it.',
};

function stateOf({ is_on: isOn, paused, card, open_payment: open }: AutoTopUpView): readonly [Tone, string] {
  if (!isOn) return ['calm', 'off'];
  if (paused !== null) return ['bad', 'paused'];
  if (card === null) return ['warn', 'waits for a card'];
  return open === null ? ['good', 'on'] : ['busy', 'on, and a payment is on its way'];
}

function Chosen({ of, onRemove }: { of: AutoTopUpView; onRemove: (() => void) | undefined }) {
  const { threshold, amount, monthly_cap: cap, used, card } = of;
  const [tone, words] = stateOf(of);
  return (
    <>
      <Facts
        rows={[
          ['State', <Badge tone={tone}>{words}</Badge>],
          ['When less is available than', <Money of={threshold ?? 0} />],
          ['The card adds', <Money of={amount ?? 0} />],
          [
            'In this month (UTC)',
            cap !== null && (
              <>
                <Money of={used} /> <span class="dim">of at most {money(cap)}</span>
                <Meter share={used / cap} label={`${money(used)} of ${money(cap)} in this month`} />
              </>
            ),
          ],
          card !== null && [
            'Card',
            <>
              <CardName of={card} />{' '}
              {onRemove && (
                <Button text="Remove" aria-label="Remove the card" class="small" onClick={onRemove} />
              )}
            </>,
          ],
        ]}
      />
      {of.is_on && amount !== null && cap !== null && used + amount > cap && (
        <p class="notice warn">
          Another {money(amount)} would exceed the monthly maximum, so nothing is added before the next month.
        </p>
      )}
    </>
  );
}

function CardName({ of }: { of: NonNullable<AutoTopUpView['card']> }) {
  const { brand, last4, expiry_month: month, expiry_year: year } = of;
  const name = brand === '' ? 'Card' : brand.slice(0, 1).toUpperCase() + brand.slice(1).replaceAll('_', ' ');
  return (
    <>
      {name} …{last4}{' '}
      <span class="dim">
        until {String(month).padStart(2, '0')}/{year}
      </span>
    </>
  );
}
