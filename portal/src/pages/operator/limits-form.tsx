/** What an operator changes of an account: only what differs is sent. */
import type { Action } from '../../api/hooks.ts';
import type { OperatedAccount, OperatedAccountBody } from '../../../../service/contract/portal-views.ts';
import { useDraft } from '../../ui/draft.ts';
import { Form, Text } from '../../ui/form.tsx';
import { money } from '../../words/money.ts';

type Limit = keyof OperatedAccount['limits'];
const limits: readonly { readonly name: Limit; readonly label: string }[] = [
  { name: 'post_rate', label: 'POST requests a minute' },
  { name: 'get_rate', label: 'GET requests a minute' },
  { name: 'max_concurrent', label: 'Creations at the same time' },
  { name: 'deadline_seconds', label: 'Time limit of a creation (s)' },
  { name: 'max_unused_uploads', label: 'Unused uploads' },
];

const isWhole = (text: string): boolean => /^\d+$/.test(text.trim());

type Values = Readonly<Record<Limit | 'name' | 'credit_line', string>>;

const wordsOf = (name: keyof Values, value: string): string =>
  name === 'credit_line' ? money(Number(value)) : value;

export function LimitsForm({
  of,
  action,
  onReload,
  onCancel,
}: {
  of: OperatedAccount;
  action: Action<'changeAccount'>;
  onReload: () => void;
  onCancel: () => void;
}) {
  const ofLimits = Object.fromEntries(limits.map(({ name }) => [name, String(of.limits[name])]));
  const stored = { ...ofLimits, name: of.name, credit_line: String(of.credit_line) } as Values;
  const { values, changed, set, theirs, isUndecided } = useDraft(`limits ${of.id}`, stored, wordsOf);
  const fields = action.error?.fields;
  const isCreditLine = /^\d+(\.\d{1,6})?$/.test(values.credit_line.trim());
  const touched = limits.filter(({ name }) => changed[name] !== undefined);
  const body: OperatedAccountBody = {
    ...(changed.name !== undefined && { name: changed.name.trim() }),
    ...(changed.credit_line !== undefined && { credit_line: Number(changed.credit_line) }),
    ...(touched.length > 0 && {
      limits: Object.fromEntries(touched.map(({ name }) => [name, Number(values[name])])),
    }),
  };
  const isWrong =
    !isCreditLine || values.name.trim() === '' || limits.some(({ name }) => !isWhole(values[name]));
  return (
    <Form
      submit="Save"
      isBusy={action.isBusy}
      isDisabled={isWrong || isUndecided || Object.keys(body).length === 0}
      error={action.error}
      onCancel={onCancel}
      onReload={onReload}
      onSubmit={() => action.run({ id: of.id, body: { ...body, version: of.version } })}
    >
      <Text
        label="Name"
        value={values.name}
        onInput={(value) => set('name', value)}
        isRequired
        error={fields?.get('name')}
        theirs={theirs('name')}
      />
      <div class="pair">
        <Text
          label="Credit line (USD)"
          inputMode="decimal"
          value={values.credit_line}
          onInput={(value) => set('credit_line', value)}
          theirs={theirs('credit_line')}
          error={isCreditLine ? fields?.get('credit_line') : 'An amount such as 25 or 0.50.'}
        />
        {limits.map(({ name, label }) => (
          <Text
            key={name}
            label={label}
            inputMode="numeric"
            value={values[name]}
            onInput={(value) => set(name, value)}
            error={isWhole(values[name]) ? fields?.get(`limits.${name}`) : 'A whole number.'}
            theirs={theirs(name)}
          />
        ))}
      </div>
    </Form>
  );
}
