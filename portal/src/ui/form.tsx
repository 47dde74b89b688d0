/** Forms: labels, hints and errors belong to their fields, and the first wrong field gets the focus. */
import type { ComponentChildren, TargetedInputEvent } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import type { PortalOperationName } from '../../../service/contract/operations.ts';
import type { Action } from '../api/hooks.ts';
import { useKept } from '../kept.ts';
import { Failed } from './states.tsx';
import { Button } from './basics.tsx';

interface FieldIds {
  readonly id: string;
  readonly 'aria-describedby'?: string;
  readonly 'aria-invalid'?: 'true';
}

export function Field(props: {
  label: string;
  hint?: ComponentChildren;
  error?: string | undefined;
  theirs?: Theirs | undefined;
  children: (ids: FieldIds) => ComponentChildren;
}) {
  const { label, hint, error, theirs, children } = props;
  const id = useId();
  const parts = [
    hint !== undefined && `${id}-hint`,
    error !== undefined && `${id}-error`,
    theirs && `${id}-theirs`,
  ].filter((part) => typeof part === 'string');
  const ids: FieldIds = {
    id,
    ...(parts.length > 0 && { 'aria-describedby': parts.join(' ') }),
    ...(error !== undefined && { 'aria-invalid': 'true' as const }),
  };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children(ids)}
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {error !== undefined && (
        <p class="field-error" id={`${id}-error`}>
          {error}
        </p>
      )}
      {theirs && <Beside id={`${id}-theirs`} of={theirs} label={label} />}
    </div>
  );
}

/** The value that somebody else has stored for an entry, with the choice between both. */
export function Beside({ id, of, label }: { id?: string; of: Theirs; label: string }) {
  return (
    <div class="theirs">
      <p {...(id !== undefined && { id })}>
        Somebody stored meanwhile: <strong>{of.text}</strong>
      </p>
      <Button text="Take it" class="small" aria-label={`Take it: ${label}`} onClick={of.onTake} />
      <Button text="Keep mine" class="small" aria-label={`Keep mine: ${label}`} onClick={of.onKeep} />
    </div>
  );
}

export interface TextInput {
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly hint?: ComponentChildren;
  readonly error?: string | undefined;
  readonly theirs?: Theirs | undefined;
  readonly type?: 'text' | 'url' | 'email';
  readonly placeholder?: string;
  readonly isRequired?: boolean;
  readonly maxLength?: number;
  readonly inputMode?: 'decimal' | 'numeric' | 'url' | 'email';
  readonly autoFocus?: boolean;
}

/** Without what is undefined: an attribute that is not given is not set. */
function defined<Values extends object>(
  values: Values,
): { [Name in keyof Values]: NonNullable<Values[Name]> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Values]: NonNullable<Values[Name]>;
  };
}

/** A field of one line. */
export function Text(props: TextInput) {
  const { label, value, onInput, hint, error, theirs, type = 'text', isRequired = false } = props;
  const { placeholder, maxLength, inputMode, autoFocus } = props;
  return (
    <Field label={label} hint={hint} error={error} theirs={theirs}>
      {(ids) => {
        const given = {
          ...ids,
          value,
          required: isRequired,
          dir: 'auto' as const,
          autocomplete: 'off',
          spellcheck: false,
          ...defined({ placeholder, maxLength, inputMode, autoFocus }),
          onInput: (event: TargetedInputEvent<HTMLInputElement>) => onInput(event.currentTarget.value),
        };
        // The types of Preact accept each type of a field, but no union of several.
        if (type === 'url') return <input type="url" {...given} />;
        if (type === 'email') return <input type="email" {...given} />;
        return <input type="text" {...given} />;
      }}
    </Field>
  );
}

/** An amount in USD. An empty field means no limit. */
export function Amount(props: Omit<TextInput, 'type' | 'inputMode'>) {
  return <Text {...props} inputMode="decimal" placeholder={props.placeholder ?? 'No limit'} />;
}

export interface Option {
  readonly value: string;
  readonly label: string;
}

export function Select(props: {
  label: string;
  value: string;
  options: readonly Option[];
  onChange: (value: string) => void;
  hint?: ComponentChildren;
  error?: string | undefined;
  theirs?: Theirs | undefined;
}) {
  const { label, value, options, onChange, hint, error, theirs } = props;
  return (
    <Field label={label} hint={hint} error={error} theirs={theirs}>
      {(ids) => (
        <select {...ids} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.label}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

/** The state of a form's action. */
export type FormAction = Pick<Action<PortalOperationName>, 'isBusy' | 'error'>;

/** A form of an action, with its error above the buttons. */
export function Form({
  onSubmit,
  action: { isBusy, error },
  onReload,
  submit,
  isDangerous,
  isDisabled,
  onCancel,
  beside,
  children,
}: {
  onSubmit: () => void;
  action: FormAction;
  /** Loads what is stored now. It is called after a conflict. */
  onReload?: (() => void) | undefined;
  submit: string;
  isDangerous?: boolean;
  isDisabled?: boolean;
  onCancel?: () => void;
  /** Shown beside the button. */
  beside?: ComponentChildren;
  children?: ComponentChildren;
}) {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (error) form.current?.querySelector<HTMLElement>('[aria-invalid]')?.focus();
    if (error?.isStale === true) onReload?.();
  }, [error]);
  return (
    <form
      ref={form}
      onSubmit={(event) => {
        event.preventDefault();
        if (!isBusy && isDisabled !== true) onSubmit();
      }}
    >
      {children}
      {error && <Failed error={error} />}
      <div class="buttons">
        {onCancel && <Button text="Cancel" class="quiet" onClick={onCancel} />}
        <button
          type="submit"
          class={isDangerous === true ? 'danger' : 'primary'}
          disabled={isDisabled === true}
          aria-busy={isBusy}
        >
          {isBusy ? 'Working…' : submit}
        </button>
        {beside}
      </div>
    </form>
  );
}

// The entries of a form that changes something stored. An untouched field shows the stored value, also
// when it changes, and is never sent. A touched field keeps its entry. When the stored value under an entry has
// changed, both stand beside each other until the person chooses.

/** The stored value under an entry, which another person has changed. */
interface Theirs {
  readonly text: string;
  readonly onTake: () => void;
  readonly onKeep: () => void;
}

export interface Draft<Values> {
  /** What the fields show. */
  readonly values: Values;
  /** The entries that are unlike what is stored. */
  readonly changed: Partial<Values>;
  readonly set: <Name extends keyof Values>(name: Name, value: Values[Name]) => void;
  /** Undefined: the entry has no conflict. */
  readonly theirs: (name: keyof Values) => Theirs | undefined;
  /** True: the person has to choose before the form is sent. */
  readonly isUndecided: boolean;
}

interface Entry {
  readonly value: unknown;
  /** The stored value when the person kept the own entry. */
  readonly over: unknown;
}

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/**
 * @param name of the form, the same whenever it is opened for the same thing
 * @param stored the fields as the service has them now
 * @param wordsOf a stored value in words
 */
export function useDraft<Values extends object>(
  name: string,
  stored: Values,
  wordsOf: (name: keyof Values, value: Values[keyof Values]) => string,
): Draft<Values> {
  const [entries, setEntries] = useKept<Readonly<Record<string, Entry>>>(name, {});
  const names = Object.keys(entries) as (keyof Values & string)[];
  const isDisputed = (one: keyof Values & string): boolean => {
    const entry = entries[one];
    return entry !== undefined && !isSame(stored[one], entry.over) && !isSame(stored[one], entry.value);
  };
  const mine = Object.fromEntries(names.map((one) => [one, entries[one]?.value])) as Partial<Values>;
  const differing = names.filter((one) => !isSame(mine[one], stored[one]));
  return {
    values: { ...stored, ...mine },
    changed: Object.fromEntries(differing.map((one) => [one, mine[one]])) as Partial<Values>,
    set: (one, value) =>
      setEntries((before) => ({
        ...before,
        [one]: { value, over: before[String(one)]?.over ?? stored[one] },
      })),
    theirs: (one) =>
      isDisputed(one as keyof Values & string)
        ? {
            text: wordsOf(one, stored[one]),
            onTake: () =>
              setEntries((before) =>
                Object.fromEntries(Object.entries(before).filter(([other]) => other !== one)),
              ),
            onKeep: () =>
              setEntries((before) => ({ ...before, [one]: { value: mine[one], over: stored[one] } })),
          }
        : undefined,
    isUndecided: names.some(isDisputed),
  };
}
