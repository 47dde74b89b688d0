/** Name, caps, models and end of a key. */
import type { ComponentChildren } from 'preact';
import type { KeyBody, KeyView } from '../../../../service/contract/portal-views.ts';
import { useResource } from '../../api/hooks.ts';
import { Amount, Beside, Field, Form, type FormAction, Text, useDraft } from '../../ui/form.tsx';
import { money, parseAmount } from '../../words/figures.ts';

export type KeyFormStart = Partial<Pick<KeyView, keyof KeyBody & keyof KeyView>>;

const caps = ['daily_cap', 'monthly_cap', 'total_cap', 'per_user_monthly_cap'] as const;
type Cap = (typeof caps)[number];

const words: Readonly<Record<Cap, { label: string; hint?: ComponentChildren }>> = {
  daily_cap: { label: 'Daily cap (USD)' },
  monthly_cap: { label: 'Monthly cap (USD)' },
  total_cap: { label: 'Total cap (USD)' },
  per_user_monthly_cap: {
    label: 'Monthly cap for each user (USD)',
    hint: (
      <>
        A user is what a request names in <code>user</code>.
      </>
    ),
  },
};

/** The fields as they are typed. An empty text means no limit, and no end. */
type Values = Readonly<Record<Cap, string>> & {
  readonly name: string;
  readonly models: readonly string[] | null;
  readonly expires_at: string;
};

const textOf = (value: number | null | undefined): string =>
  value === null || value === undefined ? '' : String(value);

/** "2026-11-22T18:44" in the time of the browser, as the field takes it. */
function localTime(at: string): string {
  const date = new Date(at);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

const valuesOf = (key: KeyFormStart): Values => ({
  name: key.name ?? '',
  daily_cap: textOf(key.daily_cap),
  monthly_cap: textOf(key.monthly_cap),
  total_cap: textOf(key.total_cap),
  per_user_monthly_cap: textOf(key.per_user_monthly_cap),
  models: key.models ?? null,
  expires_at: typeof key.expires_at === 'string' ? localTime(key.expires_at) : '',
});

function bodyOf({ name, models, expires_at: end, ...amounts }: Partial<Values>): KeyBody {
  return {
    ...(name !== undefined && { name: name.trim() }),
    ...Object.fromEntries(Object.entries(amounts).map(([cap, text]) => [cap, parseAmount(text)])),
    ...(models !== undefined && { models }),
    ...(end !== undefined && { expires_at: end === '' ? null : new Date(end).toISOString() }),
  };
}

function wordsOf(name: keyof Values, value: Values[keyof Values]): string {
  if (name === 'models') return Array.isArray(value) ? value.join(', ') : 'all models';
  const text = String(value);
  if (name === 'name') return text;
  if (name === 'expires_at') return text === '' ? 'no end' : text.replace('T', ' ');
  return text === '' ? 'no limit' : money(Number(text));
}

/** @param changed the key to change: only what was touched is sent. Absent: a new key. */
export function KeyForm(props: {
  start?: KeyFormStart | undefined;
  changed?: KeyView;
  submit: string;
  action: FormAction;
  onReload?: () => void;
  onCancel: () => void;
  onSubmit: (body: KeyBody) => void;
}) {
  const { start, changed: key, submit, action, onReload, onCancel, onSubmit } = props;
  const models = useResource('listPortalModels');
  const draft = useDraft(`key ${key?.id ?? ''}`, valuesOf(key ?? start ?? {}), wordsOf);
  const { values, changed, set, theirs } = draft;
  const { models: allowed } = values;
  const fields = action.error?.fields ?? new Map<string, string>();
  const isWrongAmount = (cap: Cap): boolean => parseAmount(values[cap]) === undefined;
  const isWrong = caps.some(isWrongAmount) || allowed?.length === 0 || values.name.trim() === '';
  const hasNothing = key !== undefined && Object.keys(changed).length === 0;
  const body = (): KeyBody =>
    key
      ? bodyOf(changed)
      : Object.fromEntries(Object.entries(bodyOf(values)).filter(([, value]) => value !== null));
  const theirModels = theirs('models');
  return (
    <Form
      submit={submit}
      action={action}
      onReload={onReload}
      isDisabled={isWrong || hasNothing || draft.isUndecided}
      onCancel={onCancel}
      onSubmit={() => onSubmit(body())}
    >
      <Text
        label="Name"
        hint="Where the key is used, such as “web shop, production”."
        value={values.name}
        onInput={(value) => set('name', value)}
        theirs={theirs('name')}
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
            value={values[cap]}
            onInput={(value) => set(cap, value)}
            theirs={theirs(cap)}
            error={isWrongAmount(cap) ? 'An amount such as 25 or 0.50.' : fields.get(cap)}
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
            onChange={(event) => set('models', event.currentTarget.checked ? null : [])}
          />
          <label for="all-models">All models, including future ones</label>
        </p>
        {allowed !== null &&
          models.data?.data.map((model) => (
            <p class="check" key={model.id}>
              <input
                type="checkbox"
                id={`model-${model.id}`}
                checked={allowed.includes(model.id)}
                onChange={(event) =>
                  set(
                    'models',
                    event.currentTarget.checked
                      ? [...allowed, model.id]
                      : allowed.filter((one) => one !== model.id),
                  )
                }
              />
              <label for={`model-${model.id}`}>{model.name}</label>
            </p>
          ))}
        {allowed?.length === 0 && <p class="field-error">Choose at least one model.</p>}
        {theirModels && <Beside of={theirModels} label="Models" />}
      </fieldset>
      <Field
        label="Ends at"
        hint="In your browser’s time zone. Empty: the key does not expire."
        error={fields.get('expires_at')}
        theirs={theirs('expires_at')}
      >
        {(ids) => (
          <input
            {...ids}
            type="datetime-local"
            value={values.expires_at}
            onInput={(event) => set('expires_at', event.currentTarget.value)}
          />
        )}
      </Field>
    </Form>
  );
}
