/** The form of the automatic top-up. */
import type { AutoTopUpView } from '../../../../service/contract/portal-views.ts';
import type { useAction } from '../../api/hooks.ts';
import { Amount, Beside, Form, useDraft } from '../../ui/form.tsx';
import { money } from '../../words/figures.ts';
import { centsOf } from './cents.ts';

/** USD, as service/portal/pay/auto-top-up.ts checks them. */
const leastThreshold = 1;
const leastAmount = 10;
const largest = 1_000;

interface Values {
  readonly is_on: boolean;
  readonly threshold: string;
  readonly amount: string;
  readonly monthly_cap: string;
}

const textOf = (amount: number | null): string => (amount === null ? '' : String(amount));

function wordsOf(_name: keyof Values, value: string | boolean): string {
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  return value === '' ? 'nothing' : money(Number(value));
}

export function TopUpForm(props: {
  of: AutoTopUpView;
  action: ReturnType<typeof useAction<'setAutoTopUp'>>;
  onReload: () => void;
  onCancel: () => void;
}) {
  const { of, action, onReload, onCancel } = props;
  const isNew = of.threshold === null;
  const draft = useDraft<Values>(
    'top-up form',
    {
      is_on: isNew ? of.card !== null : of.is_on,
      threshold: textOf(of.threshold),
      amount: textOf(of.amount),
      monthly_cap: textOf(of.monthly_cap),
    },
    wordsOf,
  );
  const { values, changed, set, theirs, isUndecided } = draft;
  const threshold = centsOf(values.threshold, leastThreshold, largest);
  const amount = centsOf(values.amount, Math.max(leastAmount, threshold.amount ?? 0), largest);
  const cap = centsOf(values.monthly_cap, amount.amount ?? leastAmount);
  const mayBeOn = of.card !== null || values.is_on;
  const submit = (): void => {
    if (threshold.amount === undefined || amount.amount === undefined || cap.amount === undefined) return;
    action.run({
      body: {
        is_on: values.is_on,
        threshold: threshold.amount,
        amount: amount.amount,
        monthly_cap: cap.amount,
        version: of.version,
      },
    });
  };
  const fields = [
    ['threshold', 'When less is available than (USD)', threshold, '20'],
    ['amount', 'The card adds (USD)', amount, '50'],
    ['monthly_cap', 'In a month at most (USD)', cap, '200'],
  ] as const;
  const theirsOfOn = theirs('is_on');
  return (
    <Form
      submit="Save"
      action={action}
      onReload={onReload}
      onCancel={onCancel}
      isDisabled={
        fields.some(([, , entry]) => entry.amount === undefined) ||
        isUndecided ||
        (!isNew && Object.keys(changed).length === 0)
      }
      onSubmit={submit}
    >
      <label class="check">
        <input
          type="checkbox"
          checked={values.is_on}
          disabled={!mayBeOn}
          onChange={({ currentTarget: { checked } }) => set('is_on', checked)}
        />{' '}
        Add money automatically
      </label>
      {theirsOfOn && <Beside of={theirsOfOn} label="Add money automatically" />}
      {!mayBeOn && (
        <p class="hint">No card is saved. Add money once and save the card, then switch this on.</p>
      )}
      {fields.map(([name, label, { error }, placeholder]) => (
        <Amount
          key={name}
          label={label}
          placeholder={placeholder}
          value={values[name]}
          onInput={(value) => set(name, value)}
          theirs={theirs(name)}
          isRequired
          error={error ?? action.error?.fields.get(name)}
        />
      ))}
      <p class="hint">
        Payments begin within a minute, one at a time. In a month (UTC) they never exceed the maximum.
      </p>
    </Form>
  );
}
