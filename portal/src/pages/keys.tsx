import { useState } from 'preact/hooks';
import type { CreatedKeyView, KeyView } from '../../../service/contract/portal-views.ts';
import { useAction, useResource } from '../api/hooks.ts';
import { begunInput, useKept } from '../kept.ts';
import { href } from '../router.ts';
import { useMay } from '../session.tsx';
import { Button, Time } from '../ui/basics.tsx';
import { announce, Dialog, Page } from '../ui/page.tsx';
import { Empty, Failed, Loaded } from '../ui/states.tsx';
import { Table } from '../ui/table.tsx';
import { RevokeKey, RollKey, ShownKey } from './parts/key-dialogs.tsx';
import { KeyForm, type KeyFormStart } from './parts/key-form.tsx';
import { isOver, KeyCaps, KeyState, LastUse } from './parts/key-words.tsx';

type Shown =
  | { readonly kind: 'create'; readonly start?: KeyFormStart }
  | { readonly kind: 'change' | 'roll' | 'revoke'; readonly id: string };

export function Keys() {
  const keys = useResource('listKeys');
  const mayCreate = useMay('createKey');
  const [shown, setShown] = useKept<Shown | undefined>('keys', () => {
    const begun = begunInput('createKey');
    return begun?.body && { kind: 'create', start: begun.body };
  });
  const [created, setCreated] = useState<CreatedKeyView>();
  const close = (): void => {
    setShown(undefined);
    create.clear();
    change.clear();
    roll.clear();
    revoke.clear();
  };
  const done = (text: string): void => {
    close();
    keys.reload();
    announce(text);
  };
  const showOnce = (answer: CreatedKeyView): void => {
    setCreated(answer);
    setShown(undefined);
    keys.reload();
  };
  const create = useAction('createKey', showOnce);
  const roll = useAction('rollKey', showOnce);
  const change = useAction('changeKey', () => done('The key is changed.'));
  const revoke = useAction('revokeKey', () => done('The key is revoked. It is refused from now on.'));
  const rows = keys.data?.data ?? [];
  const found = shown && 'id' in shown ? rows.find(({ id }) => id === shown.id) : undefined;
  const chosen = found && !isOver(found) ? found : undefined;
  // An action that a fresh sign-in finished has no open dialog for its error.
  const errorOfNoDialog = shown ? undefined : (create.error ?? roll.error ?? revoke.error);
  return (
    <Page
      title="Keys"
      lead="A program names its key in each request. A key can have its own caps, models and expiry."
      actions={
        mayCreate && (
          <Button text="Create a key" class="primary" onClick={() => setShown({ kind: 'create' })} />
        )
      }
    >
      {errorOfNoDialog && <Failed error={errorOfNoDialog} />}
      <Loaded of={keys}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="No key yet">
              <p>
                {mayCreate
                  ? 'Create one, and send your first request with it.'
                  : 'A developer or an owner of the account creates the first one.'}
              </p>
            </Empty>
          ) : (
            <KeyTable rows={data} mayChange={mayCreate} onOpen={setShown} />
          )
        }
      </Loaded>
      {shown?.kind === 'create' && (
        <Dialog title="Create a key" onClose={close}>
          <KeyForm
            start={shown.start}
            submit="Create the key"
            action={create}
            onCancel={close}
            onSubmit={(body) => create.run({ body })}
          />
        </Dialog>
      )}
      {chosen && shown?.kind === 'change' && (
        <Dialog title={`Change ${chosen.name}`} onClose={close}>
          <KeyForm
            changed={chosen}
            submit="Save"
            action={change}
            onReload={keys.reload}
            onCancel={close}
            onSubmit={(body) => change.run({ id: chosen.id, body: { ...body, version: chosen.version } })}
          />
        </Dialog>
      )}
      {found && !chosen && (
        <Dialog title={found.name} onClose={close}>
          <p>This key was revoked or has expired meanwhile. It can no longer be changed.</p>
        </Dialog>
      )}
      {chosen && shown?.kind === 'roll' && <RollKey of={chosen} action={roll} onClose={close} />}
      {chosen && shown?.kind === 'revoke' && <RevokeKey of={chosen} action={revoke} onClose={close} />}
      {created && (
        <Dialog title={`Your new key: ${created.record.name}`} isLocked onClose={() => undefined}>
          <ShownKey of={created} onStored={() => setCreated(undefined)} />
        </Dialog>
      )}
    </Page>
  );
}

function KeyTable(props: { rows: readonly KeyView[]; mayChange: boolean; onOpen: (shown: Shown) => void }) {
  const { rows, mayChange, onOpen } = props;
  return (
    <Table
      caption="Keys of the account"
      stacks
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        [
          'Key',
          (key) => (
            <span class="key-name">
              <a href={href(`/keys/${encodeURIComponent(key.id)}`)}>
                <strong>{key.name}</strong>
              </a>
              <br />
              <code class="dim">
                {key.prefix}
                {key.last4 !== null && `…${key.last4}`}
              </code>
            </span>
          ),
        ],
        ['State', (key) => <KeyState of={key} />],
        ['Spent', (key) => <KeyCaps of={key} />],
        [
          'Models',
          ({ models }) => (models === null ? <span class="dim">all</span> : models.join(', ')),
          'wide',
        ],
        [
          'Last used',
          ({ last_used_at: used, created_at: created }) => (
            <>
              <LastUse at={used} />
              <p class="dim line">
                created <Time at={created} />
              </p>
            </>
          ),
          'wide',
        ],
        [
          'Actions',
          (key) =>
            mayChange &&
            !isOver(key) && (
              <div class="row-actions">
                {(['change', 'roll', 'revoke'] as const).map((kind) => (
                  <Button
                    text={words[kind]}
                    key={kind}
                    class={kind === 'revoke' ? 'small danger-quiet' : 'small'}
                    aria-label={`${words[kind]} ${key.name}`}
                    onClick={() => onOpen({ kind, id: key.id })}
                  />
                ))}
              </div>
            ),
          'actions',
        ],
      ]}
    />
  );
}

const words = { change: 'Change', roll: 'Rotate', revoke: 'Revoke' } as const;
