import { useState } from 'preact/hooks';
import { useAction, useNow, useResource } from '../api/hooks.ts';
import type { CreatedKeyView, KeyView } from '../../../service/contract/portal-views.ts';
import { begunInput } from '../fresh.ts';
import { useKept } from '../kept.ts';
import { useMay } from '../session.ts';
import { announce } from '../ui/announce.tsx';
import { Badge, Time } from '../ui/basics.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Page } from '../ui/page.tsx';
import { Empty, Failed, Loaded } from '../ui/states.tsx';
import { Table } from '../ui/table.tsx';
import { KeyCaps } from './parts/key-caps.tsx';
import { KeyForm, type KeyFormStart } from './parts/key-form.tsx';
import { RevokeKey, RollKey } from './parts/end-key.tsx';
import { ShownKey } from './parts/shown-key.tsx';

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
  // What was finished after a fresh sign-in has no dialog that could show its error.
  const errorOfNoDialog = shown ? undefined : (create.error ?? roll.error ?? revoke.error);
  return (
    <Page
      title="Keys"
      lead="A program names its key in each request. A key can have caps, models and an end of its own."
      actions={
        mayCreate && (
          <button type="button" class="primary" onClick={() => setShown({ kind: 'create' })}>
            Create a key
          </button>
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
            isBusy={create.isBusy}
            error={create.error}
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
            isBusy={change.isBusy}
            error={change.error}
            onReload={keys.reload}
            onCancel={close}
            onSubmit={(body) => change.run({ id: chosen.id, body: { ...body, version: chosen.version } })}
          />
        </Dialog>
      )}
      {found && !chosen && (
        <Dialog title={found.name} onClose={close}>
          <p>Somebody revoked this key meanwhile, or it expired. Nothing of it can be changed any more.</p>
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

function stateOf(key: KeyView) {
  if (key.revoked_at !== null) return <Badge tone="calm">revoked</Badge>;
  if (key.expires_at !== null && Date.parse(key.expires_at) <= Date.now())
    return <Badge tone="calm">expired</Badge>;
  return <Badge tone="good">active</Badge>;
}

const isOver = (key: KeyView): boolean =>
  key.revoked_at !== null || (key.expires_at !== null && Date.parse(key.expires_at) <= Date.now());

/** The service keeps the hour of the last use. */
function LastUse({ at }: { at: string | null }) {
  const now = useNow(60_000);
  if (at === null) return <span class="dim">never</span>;
  return now - Date.parse(at) < 3_600_000 ? <span>in the last hour</span> : <Time at={at} form="relative" />;
}

function KeyTable({
  rows,
  mayChange,
  onOpen,
}: {
  rows: readonly KeyView[];
  mayChange: boolean;
  onOpen: (shown: Shown) => void;
}) {
  return (
    <Table
      caption="Keys of the account"
      stacks
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        {
          head: 'Key',
          cell: (key) => (
            <span class="key-name">
              <strong>{key.name}</strong>
              <br />
              <code class="dim">
                {key.prefix}
                {key.last4 !== null && `…${key.last4}`}
              </code>
            </span>
          ),
        },
        {
          head: 'State',
          cell: (key) => (
            <>
              {stateOf(key)}
              {key.expires_at !== null && !isOver(key) && (
                <p class="dim">
                  ends <Time at={key.expires_at} form="relative" />
                </p>
              )}
            </>
          ),
        },
        { head: 'Spent', cell: (key) => <KeyCaps of={key} /> },
        {
          head: 'Models',
          isWide: true,
          cell: ({ models }) => (models === null ? <span class="dim">all</span> : models.join(', ')),
        },
        {
          head: 'Last used',
          isWide: true,
          cell: ({ last_used_at: used, created_at: created }) => (
            <>
              <LastUse at={used} />
              <p class="dim line">
                created <Time at={created} />
              </p>
            </>
          ),
        },
        {
          head: 'Actions',
          isPlain: true,
          isNumber: true,
          cell: (key) =>
            mayChange &&
            !isOver(key) && (
              <div class="row-actions">
                {(['change', 'roll', 'revoke'] as const).map((kind) => (
                  <button
                    key={kind}
                    type="button"
                    class={kind === 'revoke' ? 'small danger-quiet' : 'small'}
                    aria-label={`${words[kind]} ${key.name}`}
                    onClick={() => onOpen({ kind, id: key.id })}
                  >
                    {words[kind]}
                  </button>
                ))}
              </div>
            ),
        },
      ]}
    />
  );
}

const words = { change: 'Change', roll: 'Roll', revoke: 'Revoke' } as const;
