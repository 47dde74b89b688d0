/** Name, caps, models and end of a key. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { useResource } from '../../api/hooks.ts';
import type { Refusal } from '../../api/refusal.ts';
import type { KeyBody, KeyView } from '../../../../core/portal/views.ts';
import { Amount, Field, Form, Text } from '../../ui/form.tsx';
import { parseAmount } from '../../words/money.ts';

export type KeyFormStart = Partial<Pick<KeyView, keyof KeyBody & keyof KeyView>>;

const caps = ['daily_cap', 'monthly_cap', 'total_cap', 'per_user_monthly_cap'] as const;
type Cap = (typeof caps)[number];

const words: Readonly<Record<Cap, { label: string; hint?: ComponentChildren }>> = {
  daily_cap: { label: 'Cap a day (USD)' },
  monthly_cap: { label: 'Cap a month (USD)' },
  total_cap: { label: 'Cap in total (USD)' },
  per_user_monthly_cap: {
    label: 'Cap a month for each user (USD)',
    hint: (
      <>
        A user is what a request names in <code>user</code>.
      </>
    ),
  },
};

const textOf = (value: number | null | undefined): string =>
  value === null || value === undefined ? '' : String(value);

/** "2026-11-22T18:44" in the time of the browser, as the field takes it. */
function localTime(at: string): string {
  const date = new Date(at);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

export function KeyForm({
  start,
  submit,
  isBusy,
  error,
  onReload,
  onCancel,
  onSubmit,
}: {
  start?: KeyFormStart | undefined;
  submit: string;
  isBusy: boolean;
  error?: Refusal | undefined;
  onReload?: () => void;
  onCancel: () => void;
  onSubmit: (body: KeyBody) => void;
}) {
  const models = useResource('listPortalModels');
  const [name, setName] = useState(start?.name ?? '');
  const [amounts, setAmounts] = useState<Readonly<Record<Cap, string>>>({
    daily_cap: textOf(start?.daily_cap),
    monthly_cap: textOf(start?.monthly_cap),
    total_cap: textOf(start?.total_cap),
    per_user_monthly_cap: textOf(start?.per_user_monthly_cap),
  });
  const [allowed, setAllowed] = useState<readonly string[] | null>(start?.models ?? null);
  const [end, setEnd] = useState(
    start?.expires_at === null || start?.expires_at === undefined ? '' : localTime(start.expires_at),
  );
  const fields = error?.fields ?? new Map<string, string>();
  const amountOf = (cap: Cap): number | null | undefined => parseAmount(amounts[cap]);
  const isWrong = caps.some((cap) => amountOf(cap) === undefined) || allowed?.length === 0;
  const body = (): KeyBody => {
    const now: KeyBody = {
      name: name.trim(),
      ...Object.fromEntries(caps.map((cap) => [cap, amountOf(cap)])),
      models: allowed,
      expires_at: end === '' ? null : new Date(end).toISOString(),
    };
    // Only what differs goes to the service, so that a change undoes nothing else.
    const before: KeyBody = start ?? {};
    const isSame = (one: keyof KeyBody): boolean =>
      one === 'expires_at' && typeof before.expires_at === 'string'
        ? end === localTime(before.expires_at)
        : JSON.stringify(now[one] ?? null) === JSON.stringify(before[one] ?? null);
    const hasChanges = start !== undefined && 'id' in start;
    return Object.fromEntries(
      Object.entries(now).filter(([one, value]) =>
        hasChanges ? !isSame(one as keyof KeyBody) : value !== null,
      ),
    );
  };
  return (
    <Form
      submit={submit}
      isBusy={isBusy}
      error={error}
      onReload={onReload}
      isDisabled={isWrong || name.trim() === ''}
      onCancel={onCancel}
      onSubmit={() => onSubmit(body())}
    >
      <Text
        label="Name"
        hint="Where the key is used, such as “web shop, production”."
        value={name}
        onInput={setName}
        isRequired
        maxLength={100}
        error={fields.get('name')}
        autoFocus
      />
      <div class="pair">
        {caps.map((cap) => (
          <Amount
            key={cap}
            {...words[cap]}
            value={amounts[cap]}
            onInput={(value) => setAmounts({ ...amounts, [cap]: value })}
            error={amountOf(cap) === undefined ? 'An amount such as 25 or 0.50.' : fields.get(cap)}
          />
        ))}
      </div>
      <fieldset>
        <legend>Models</legend>
        <p class="check">
          <input
            type="checkbox"
            id="all-models"
            checked={allowed === null}
            onChange={(event) => setAllowed(event.currentTarget.checked ? null : [])}
          />
          <label for="all-models">All models, also those to come</label>
        </p>
        {allowed !== null &&
          models.data?.data.map((model) => (
            <p class="check" key={model.id}>
              <input
                type="checkbox"
                id={`model-${model.id}`}
                checked={allowed.includes(model.id)}
                onChange={(event) =>
                  setAllowed(
                    event.currentTarget.checked
                      ? [...allowed, model.id]
                      : allowed.filter((one) => one !== model.id),
                  )
                }
              />
              <label for={`model-${model.id}`}>{model.name}</label>
            </p>
          ))}
        {allowed?.length === 0 && <p class="field-error">Choose one model at least.</p>}
      </fieldset>
      <Field
        label="Ends at"
        hint="In the time of your browser. Empty: it has no end."
        error={fields.get('expires_at')}
      >
        {(ids) => (
          <input
            {...ids}
            type="datetime-local"
            value={end}
            onInput={(event) => setEnd(event.currentTarget.value)}
          />
        )}
      </Field>
    </Form>
  );
}
