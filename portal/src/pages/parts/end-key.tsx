/** A key is replaced, or ends at once. */
import type { Action } from '../../api/hooks.ts';
import { useKept } from '../../kept.ts';
import type { KeyView, RollBody } from '../../../../service/contract/portal-views.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Form, Select, Text } from '../../ui/form.tsx';

type Time = RollBody['old_key_ends_in'];
const times: readonly { value: Time; label: string }[] = [
  { value: '24h', label: 'in 24 hours' },
  { value: '1h', label: 'in one hour' },
  { value: '7d', label: 'in seven days' },
];

export function RollKey({
  of: key,
  action,
  onClose,
}: {
  of: KeyView;
  action: Action<'rollKey'>;
  onClose: () => void;
}) {
  const [time, setTime] = useKept<Time>('old key ends', '24h');
  return (
    <Dialog title={`Roll ${key.name}`} onClose={onClose}>
      <Form
        submit="Create the new key"
        isBusy={action.isBusy}
        error={action.error}
        onCancel={onClose}
        onSubmit={() => action.run({ id: key.id, body: { old_key_ends_in: time } })}
      >
        <p>A new key with the same name, caps and models works at once. Put it where the old one is used.</p>
        <Select
          label="The old key ends"
          value={time}
          options={times}
          onChange={(value) => setTime(times.find((one) => one.value === value)?.value ?? '24h')}
        />
      </Form>
    </Dialog>
  );
}

export function RevokeKey({
  of: key,
  action,
  onClose,
}: {
  of: KeyView;
  action: Action<'revokeKey'>;
  onClose: () => void;
}) {
  const [typed, setTyped] = useKept('confirmation', '');
  return (
    <Dialog title={`Revoke ${key.name}`} onClose={onClose}>
      <Form
        submit="Revoke the key"
        isDangerous
        isDisabled={typed.trim() !== key.name.trim()}
        isBusy={action.isBusy}
        error={action.error}
        onCancel={onClose}
        onSubmit={() => action.run({ id: key.id })}
      >
        <p>
          Every request with this key is refused from the next one on. This cannot be undone. To replace a key
          without a gap, roll it.
        </p>
        <Text label={`Type “${key.name}” to confirm`} value={typed} onInput={setTyped} isRequired autoFocus />
      </Form>
    </Dialog>
  );
}
