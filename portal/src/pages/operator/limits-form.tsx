/** What an operator changes of an account: only what differs is sent. */
import { useState } from 'preact/hooks';
import type { Action } from '../../api/hooks.ts';
import type { OperatedAccount, OperatedAccountBody } from '../../../../core/portal/views.ts';
import { Form, Text } from '../../ui/form.tsx';

type Limit = keyof OperatedAccount['limits'];
const limits: readonly { readonly name: Limit; readonly label: string }[] = [
  { name: 'post_rate', label: 'POST requests a minute' },
  { name: 'get_rate', label: 'GET requests a minute' },
  { name: 'max_concurrent', label: 'Creations at the same time' },
  { name: 'deadline_seconds', label: 'Time limit of a creation (s)' },
  { name: 'max_unused_uploads', label: 'Unused uploads' },
];

const isWhole = (text: string): boolean => /^\d+$/.test(text.trim());

export function LimitsForm({
  of,
  action,
  onCancel,
}: {
  of: OperatedAccount;
  action: Action<'changeAccount'>;
  onCancel: () => void;
}) {
  const [name, setName] = useState(of.name);
  const [creditLine, setCreditLine] = useState(String(of.credit_line));
  const [values, setValues] = useState<Readonly<Record<string, string>>>(() =>
    Object.fromEntries(limits.map((limit) => [limit.name, String(of.limits[limit.name])])),
  );
  const valueOf = (limit: Limit): string => values[limit] ?? '';
  const fields = action.error?.fields;
  const isCreditLine = /^\d+(\.\d{1,6})?$/.test(creditLine.trim());
  const changed = limits.filter((limit) => Number(valueOf(limit.name)) !== of.limits[limit.name]);
  const body: OperatedAccountBody = {
    ...(name.trim() !== of.name && { name: name.trim() }),
    ...(Number(creditLine) !== of.credit_line && { credit_line: Number(creditLine) }),
    ...(changed.length > 0 && {
      limits: Object.fromEntries(changed.map((limit) => [limit.name, Number(valueOf(limit.name))])),
    }),
  };
  const isWrong = !isCreditLine || limits.some((limit) => !isWhole(valueOf(limit.name)));
  return (
    <Form
      submit="Save"
      isBusy={action.isBusy}
      isDisabled={isWrong || name.trim() === '' || Object.keys(body).length === 0}
      error={action.error}
      onCancel={onCancel}
      onSubmit={() => action.run({ id: of.id, body })}
    >
      <Text label="Name" value={name} onInput={setName} isRequired error={fields?.get('name')} />
      <div class="pair">
        <Text
          label="Credit line (USD)"
          inputMode="decimal"
          value={creditLine}
          onInput={setCreditLine}
          error={isCreditLine ? fields?.get('credit_line') : 'An amount such as 25 or 0.50.'}
        />
        {limits.map((limit) => (
          <Text
            key={limit.name}
            label={limit.label}
            inputMode="numeric"
            value={valueOf(limit.name)}
            onInput={(value) => setValues({ ...values, [limit.name]: value })}
            error={isWhole(valueOf(limit.name)) ? fields?.get(`limits.${limit.name}`) : 'A whole number.'}
          />
        ))}
      </div>
    </Form>
  );
}
