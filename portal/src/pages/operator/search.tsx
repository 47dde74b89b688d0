/** The search over everything: Ctrl-K opens it on every page, and arrows select a result. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { FoundThing, FoundView } from '../../../../service/contract/portal-views.ts';
import { call } from '../../api/call.ts';
import { go, href } from '../../router.ts';
import { Badge, Clip } from '../../ui/basics.tsx';
import { Field } from '../../ui/form.tsx';
import { Dialog } from '../../ui/page.tsx';

/** A whole key is a secret. Its first characters name it, and only they are sent. */
const keyStart = /^(dk_[a-z]+_\w{16})\w+$/;
const waitMillis = 250;

function pathOf({ kind, id, account }: FoundThing): string {
  const at = `/operator/accounts/${encodeURIComponent(account ?? '')}`;
  switch (kind) {
    case 'creation':
      return `/operator/creations/${id}`;
    case 'account':
      return at;
    case 'key':
      return `${at}/keys`;
    case 'notice':
      return `${at}/deliveries`;
    case 'payment':
      return `${at}/payments`;
    case 'request':
      return `${at}/requests`;
    case 'person':
    case 'invitation':
      return `${at}/people`;
  }
}

export function Search({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState('');
  const [found, setFound] = useState<FoundView>();
  const [problem, setProblem] = useState('');
  const [chosen, setChosen] = useState(0);
  const list = useRef<HTMLUListElement>(null);
  const asked = text.trim().replace(keyStart, '$1');
  useEffect(() => {
    setFound(undefined);
    setProblem('');
    setChosen(0);
    if (asked === '') return;
    const abort = new AbortController();
    const timer = setTimeout(() => {
      call('findAnything', { query: { q: asked } }, abort.signal).then(setFound, (error: unknown) => {
        if (!abort.signal.aborted) setProblem(error instanceof Error ? error.message : '');
      });
    }, waitMillis);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [asked]);
  const rows = found?.data ?? [];
  const open = (row: FoundThing | undefined): void => {
    if (!row) return;
    onClose();
    go(pathOf(row));
  };
  const move = (by: number): void => {
    if (rows.length > 0) setChosen((chosen + by + rows.length) % rows.length);
  };
  useEffect(() => list.current?.children[chosen]?.scrollIntoView({ block: 'nearest' }), [chosen]);
  return (
    <Dialog title="Search" onClose={onClose}>
      <form
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
          open(rows[chosen]);
        }}
      >
        <Field label="An id, also of a request, the beginning of a key, an address, or the name of an account">
          {(ids) => (
            <input
              {...ids}
              type="text"
              autoFocus
              autocomplete="off"
              spellcheck={false}
              maxLength={200}
              value={text}
              role="combobox"
              aria-expanded={rows.length > 0}
              aria-controls="found"
              {...(rows.length > 0 && { 'aria-activedescendant': `found-${chosen}` })}
              onInput={(event) => setText(event.currentTarget.value)}
              onKeyDown={(event) => {
                if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
                event.preventDefault();
                move(event.key === 'ArrowDown' ? 1 : -1);
              }}
            />
          )}
        </Field>
      </form>
      <ul id="found" class="plain found" role="listbox" aria-label="Results" ref={list}>
        {rows.map((row, place) => (
          <li
            key={`${row.kind} ${row.id} ${row.account ?? ''}`}
            id={`found-${place}`}
            role="option"
            aria-selected={place === chosen}
            onClick={() => open(row)}
          >
            <Badge tone="calm">{row.kind}</Badge> <Clip text={row.name} />{' '}
            {row.kind !== 'account' && row.account_name !== null && (
              <span class="dim">
                <Clip text={row.account_name} />
              </span>
            )}
          </li>
        ))}
      </ul>
      <p class="dim" role="status">
        {problem}
        {found && wordsOf(found)}
      </p>
      {found && rows.length === 0 && (
        <p>
          <a href={href('/operator/accounts')} onClick={onClose}>
            All accounts
          </a>
        </p>
      )}
    </Dialog>
  );
}

function wordsOf({ data, has_all: hasAll }: FoundView): string {
  const count = data.length === 0 ? 'Nothing was found.' : `${data.length} found.`;
  return hasAll ? count : `${count} Only the names of the oldest accounts were searched.`;
}
