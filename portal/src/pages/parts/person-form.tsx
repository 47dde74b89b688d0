/** Address, role and limit of a person. */
import { type Role, roles } from '../../../../service/contract/operations.ts';
import type { InvitedView } from '../../../../service/contract/portal-views.ts';
import { Amount, Form, type FormAction, Select, Text, useDraft } from '../../ui/form.tsx';
import { money, parseAmount } from '../../words/figures.ts';

interface Values {
  readonly email: string;
  readonly role: Role;
  readonly key_cap: string;
}

export interface PersonStart {
  readonly email?: string;
  readonly role?: Role;
  readonly key_cap?: number | null;
}

const wordsOf = (name: keyof Values, value: string): string =>
  name !== 'key_cap' ? value : value === '' ? 'any cap' : money(Number(value));

const hints: Readonly<Record<Role, string>> = {
  owner: 'May do everything, and manages people.',
  developer: 'Manages keys and webhooks, and generates.',
  viewer: 'Reads everything but people and the audit log.',
  finance: 'Sees wallet, ledger, usage and statements: no keys, no prompts.',
};

/** @param changed the person to change: only what was touched is given. Absent: a new person, with an address. */
export function PersonForm(props: {
  start?: PersonStart | undefined;
  changed?: Required<Pick<PersonStart, 'role' | 'key_cap'>> & { readonly id: string };
  submit: string;
  action: FormAction;
  onReload?: () => void;
  onCancel: () => void;
  onSubmit: (values: PersonStart) => void;
}) {
  const { start, changed: person, submit, action, onReload, onCancel, onSubmit } = props;
  const stored = person ?? start;
  const isNew = person === undefined;
  const cap = stored?.key_cap ?? null;
  const { values, changed, set, theirs } = useDraft<Values>(
    `person ${person?.id ?? ''}`,
    {
      email: start?.email ?? '',
      role: stored?.role ?? 'developer',
      key_cap: cap === null ? '' : String(cap),
    },
    wordsOf,
  );
  const { email, role } = values;
  const fields = action.error?.fields ?? new Map<string, string>();
  const amount = parseAmount(values.key_cap);
  const hasCap = role === 'developer';
  const isUndecided = theirs('role') !== undefined || (hasCap && theirs('key_cap') !== undefined);
  const isWrong = (hasCap && amount === undefined) || (isNew && !email.includes('@'));
  // A role without a cap takes the cap away, so the cap is not sent with it.
  const given: PersonStart = {
    ...((isNew || changed.role !== undefined) && { role }),
    ...(hasCap && (isNew ? amount !== null : changed.key_cap !== undefined) && { key_cap: amount ?? null }),
    ...(isNew && { email: email.trim() }),
  };
  return (
    <Form
      submit={submit}
      action={action}
      onReload={onReload}
      isDisabled={isWrong || isUndecided || Object.keys(given).length === 0}
      onCancel={onCancel}
      onSubmit={() => onSubmit(given)}
    >
      {isNew && (
        <Text
          label="Email address"
          type="email"
          inputMode="email"
          value={email}
          onInput={(value) => set('email', value)}
          hint="The first sign-in with this verified address takes the invitation, within 14 days."
          error={fields.get('email')}
          isRequired
          autoFocus
        />
      )}
      <Select
        label="Role"
        value={role}
        options={roles.map((value) => ({ value, label: value }))}
        hint={hints[role]}
        error={fields.get('role')}
        theirs={theirs('role')}
        onChange={(value) => set('role', roles.find((one) => one === value) ?? 'viewer')}
      />
      {hasCap && (
        <Amount
          label="Largest monthly cap of a key (USD)"
          value={values.key_cap}
          onInput={(value) => set('key_cap', value)}
          theirs={theirs('key_cap')}
          hint="This person creates no key that may spend more."
          error={amount === undefined ? 'An amount such as 25 or 0.50.' : fields.get('key_cap')}
        />
      )}
    </Form>
  );
}

/** The next step for the person who sent an invitation. */
export function invitedWords({ mail, sign_in_at: address }: InvitedView): string {
  switch (mail) {
    case 'sent':
      return 'The person is invited. An e-mail with a first password is on its way.';
    case 'none':
      return `The person is invited. Tell them to sign in at ${address}`;
    case 'refused':
      return `The invitation is stored, but no e-mail could be sent. Invite the address again later. The person signs in at ${address}`;
  }
}
