import { useState } from 'preact/hooks';
import type { CreationRow } from '../../../service/contract/portal-views.ts';
import { useResource, useRows } from '../api/hooks.ts';
import { href, setQuery, usePlace } from '../router.ts';
import { useMay } from '../session.tsx';
import { Button, Money, Time } from '../ui/basics.tsx';
import { Field, Select, Text } from '../ui/form.tsx';
import { Page } from '../ui/page.tsx';
import { Empty } from '../ui/states.tsx';
import { List } from '../ui/table.tsx';
import { utcDay } from '../words/figures.ts';
import { CreationState, CreationTable, Expiry } from './parts/creation-table.tsx';

const filters = ['status', 'model', 'key', 'user', 'day'] as const;
const statuses = ['queued', 'processing', 'completed', 'failed'];
const storageName = 'darkroom.creations';

export function Creations() {
  const { query } = usePlace();
  const asked = Object.fromEntries(filters.map((name) => [name, query.get(name) ?? '']));
  const rows = useRows('listPortalCreations', asked);
  const [form, setForm] = useState(() => (localStorage.getItem(storageName) === 'grid' ? 'grid' : 'table'));
  const mayCreate = useMay('createCreation');
  const isFiltered = filters.some((name) => asked[name] !== '');
  const choose = (value: string): void => {
    localStorage.setItem(storageName, value);
    setForm(value);
  };
  const clear = (): void => setQuery(Object.fromEntries(filters.map((name) => [name, ''])));
  return (
    <Page
      title="Creations"
      actions={
        <>
          <div class="switch" role="group" aria-label="Form of the list">
            {['table', 'grid'].map((one) => (
              <Button
                text={one === 'table' ? 'Table' : 'Grid'}
                key={one}
                aria-pressed={form === one}
                onClick={() => choose(one)}
              />
            ))}
          </div>
          <Button text="Refresh" onClick={rows.reload} isBusy={rows.isLoading} />
        </>
      }
    >
      <Filters asked={asked} />
      <List
        of={rows}
        empty={
          isFiltered ? (
            <Empty title="No creation fits the filters">
              <Button text="Clear the filters" onClick={clear} />
            </Empty>
          ) : (
            <Empty title="No creation yet">
              <p>
                {mayCreate ? (
                  <>
                    Try the <a href={href('/playground')}>playground</a>, or send a request with a{' '}
                    <a href={href('/keys')}>key</a>.
                  </>
                ) : (
                  'They appear here as soon as a request arrives.'
                )}
              </p>
            </Empty>
          )
        }
      >
        {(data) =>
          form === 'grid' ? (
            <Grid rows={data} />
          ) : (
            <CreationTable caption="Creations, the newest first" rows={data} />
          )
        }
      </List>
    </Page>
  );
}

function Filters({ asked }: { asked: Readonly<Record<string, string>> }) {
  const models = useResource('listPortalModels');
  const keys = useResource('listKeys');
  const [user, setUser] = useState(asked['user'] ?? '');
  const all = { value: '', label: 'All' };
  return (
    <form
      class="filters"
      role="search"
      aria-label="Filters"
      onSubmit={(event) => {
        event.preventDefault();
        setQuery({ user: user.trim() });
      }}
    >
      <Select
        label="State"
        value={asked['status'] ?? ''}
        options={[all, ...statuses.map((value) => ({ value, label: value }))]}
        onChange={(value) => setQuery({ status: value })}
      />
      <Select
        label="Model"
        value={asked['model'] ?? ''}
        options={[all, ...(models.data?.data ?? []).map(({ id, name }) => ({ value: id, label: name }))]}
        onChange={(value) => setQuery({ model: value })}
      />
      <Select
        label="Key"
        value={asked['key'] ?? ''}
        options={[
          all,
          ...(keys.data?.data ?? []).map(({ id, name }) => ({ value: id, label: name })),
          { value: 'portal', label: 'Playground' },
        ]}
        onChange={(value) => setQuery({ key: value })}
      />
      <Field label="Day (UTC)">
        {(ids) => (
          <input
            {...ids}
            type="date"
            value={asked['day'] ?? ''}
            max={utcDay(Date.now())}
            onChange={(event) => setQuery({ day: event.currentTarget.value })}
          />
        )}
      </Field>
      <Text label="User" value={user} onInput={setUser} placeholder="All" />
      <button type="submit">Filter</button>
    </form>
  );
}

function Grid({ rows }: { rows: readonly CreationRow[] }) {
  return (
    <ul class="grid">
      {rows.map((row) => (
        <li key={row.id}>
          <a href={href(`/creations/${row.id}`)}>
            <span class="picture">
              {row.result_urls[0] === undefined ? (
                <CreationState of={row} />
              ) : (
                <img src={row.result_urls[0]} alt="" loading="lazy" decoding="async" />
              )}
            </span>
            <span class="clip prompt">{row.prompt ?? 'without a prompt'}</span>
          </a>
          <p class="dim">
            <Time at={row.created_at} /> · <Money of={row.cost} />
            {row.result_expires_at !== null && (
              <>
                {' '}
                · <Expiry at={row.result_expires_at} />
              </>
            )}
          </p>
        </li>
      ))}
    </ul>
  );
}
