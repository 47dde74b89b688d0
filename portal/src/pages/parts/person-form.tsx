/** Address, role and limit of a person. */
import { useState } from 'preact/hooks';
import { roles, type Role } from '../../../../core/contract.ts';
import type { Refusal } from '../../api/refusal.ts';
import { Amount, Form, Select, Text } from '../../ui/form.tsx';
import { parseAmount } from '../../words/money.ts';

interface PersonValues {
  readonly email?: string;
  readonly role: Role;
  readonly key_cap: number | null;
}

const hints: Readonly<Record<Role, string>> = {
  owner: 'May do everything, and manages people.',
  developer: 'Manages keys and webhooks, and generates.',
  viewer: 'Reads everything but people and the audit log.',
};

export function PersonForm({
  start,
  withEmail,
  submit,
  isBusy,
  error,
  onReload,
  onCancel,
  onSubmit,
}: {
  start?: { email?: string; role?: Role; key_cap?: number | null } | undefined;
  withEmail?: boolean;
  submit: string;
  isBusy: boolean;
  error?: Refusal | undefined;
  onReload?: () => void;
  onCancel: () => void;
  onSubmit: (values: PersonValues) => void;
}) {
  const [email, setEmail] = useState(start?.email ?? '');
  const [role, setRole] = useState<Role>(start?.role ?? 'developer');
  const [cap, setCap] = useState(
    start?.key_cap === undefined || start.key_cap === null ? '' : String(start.key_cap),
  );
  const fields = error?.fields ?? new Map<string, string>();
  const amount = parseAmount(cap);
  return (
    <Form
      submit={submit}
      isBusy={isBusy}
      error={error}
      onReload={onReload}
      isDisabled={amount === undefined || (withEmail === true && !email.includes('@'))}
      onCancel={onCancel}
      onSubmit={() =>
        onSubmit({
          role,
          key_cap: role === 'developer' ? (amount ?? null) : null,
          ...(withEmail === true && { email: email.trim() }),
        })
      }
    >
      {withEmail === true && (
        <Text
          label="Email address"
          type="email"
          inputMode="email"
          value={email}
          onInput={setEmail}
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
        onChange={(value) => setRole(roles.find((one) => one === value) ?? 'viewer')}
      />
      {role === 'developer' && (
        <Amount
          label="Largest cap a month of a key (USD)"
          value={cap}
          onInput={setCap}
          hint="This person creates no key that may spend more."
          error={amount === undefined ? 'An amount such as 25 or 0.50.' : fields.get('key_cap')}
        />
      )}
    </Form>
  );
}
