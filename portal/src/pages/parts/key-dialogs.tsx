/** The dialogs of a key: it is shown once when it is new, it is replaced, or it ends at once. */
import { useId, useState } from 'preact/hooks';
import type { GenerateBody } from '../../../../service/contract/portal-calls.ts';
import type { CreatedKeyView, KeyView, RollBody } from '../../../../service/contract/portal-views.ts';
import type { Action } from '../../api/hooks.ts';
import { useKept } from '../../kept.ts';
import { useSession } from '../../session.tsx';
import { Button, Code, Copy, Time } from '../../ui/basics.tsx';
import { Form, Select, Text } from '../../ui/form.tsx';
import { Dialog, Tabs } from '../../ui/page.tsx';
import { requestSnippets } from '../../words/snippets.ts';

/** A first request in each language, with the key filled in. */
export function RequestSnippets({ apiKey, body }: { apiKey: string; body?: GenerateBody }) {
  const { me } = useSession();
  const asked = body ?? { model: 'sandbox-sketch', prompt: 'a lighthouse in a storm' };
  return (
    <Tabs
      label="Language"
      tabs={requestSnippets(me.service, apiKey, asked, location.origin).map(({ name, text, note }) => ({
        name,
        content: (
          <>
            {note !== undefined && <p class="notice warn">{note}</p>}
            <Code text={text} label={`the request in ${name}`} />
          </>
        ),
      }))}
    />
  );
}

export function ShownKey(props: { of: CreatedKeyView; onStored: () => void }) {
  const {
    of: { key, replaced_until: replacedUntil },
    onStored,
  } = props;
  const [isStored, setStored] = useState(false);
  const id = useId();
  return (
    <>
      <p>
        <strong>Store the key now.</strong> It is shown only once; the service keeps only its hash.
      </p>
      <div class="secret">
        <code>{key}</code>
        <Copy text={key} label="the key" />
      </div>
      {replacedUntil !== undefined && (
        <p>
          The replaced key works until <Time at={replacedUntil} />.
        </p>
      )}
      <RequestSnippets apiKey={key} />
      <div class="stored">
        <p class="check">
          <input
            type="checkbox"
            id={id}
            checked={isStored}
            onChange={(event) => setStored(event.currentTarget.checked)}
          />
          <label for={id}>I have stored it</label>
        </p>
        <Button text="Done" class="primary" disabled={!isStored} onClick={onStored} />
      </div>
    </>
  );
}

type Span = RollBody['old_key_ends_in'];
const times: readonly { value: Span; label: string }[] = [
  { value: '24h', label: 'in 24 hours' },
  { value: '1h', label: 'in one hour' },
  { value: '7d', label: 'in seven days' },
];

export function RollKey(props: { of: KeyView; action: Action<'rollKey'>; onClose: () => void }) {
  const { of: key, action, onClose } = props;
  const [time, setTime] = useKept<Span>('old key ends', '24h');
  return (
    <Dialog title={`Rotate ${key.name}`} onClose={onClose}>
      <Form
        submit="Create the new key"
        action={action}
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

export function RevokeKey(props: { of: KeyView; action: Action<'revokeKey'>; onClose: () => void }) {
  const { of: key, action, onClose } = props;
  const [typed, setTyped] = useKept('confirmation', '');
  return (
    <Dialog title={`Revoke ${key.name}`} onClose={onClose}>
      <Form
        submit="Revoke the key"
        isDangerous
        isDisabled={typed.trim() !== key.name.trim()}
        action={action}
        onCancel={onClose}
        onSubmit={() => action.run({ id: key.id })}
      >
        <p>
          From now on every request with this key is refused. This cannot be undone. To replace a key without
          a gap, rotate it.
        </p>
        <Text label={`Type “${key.name}” to confirm`} value={typed} onInput={setTyped} isRequired autoFocus />
      </Form>
    </Dialog>
  );
}
