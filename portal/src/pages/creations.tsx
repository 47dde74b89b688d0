import { useEffect, useRef, useState } from 'preact/hooks';
import type { CreationRow } from '../../../service/contract/portal-views.ts';
import { type Rows, useResource, useReturn, useRows } from '../api/hooks.ts';
import { useOpenCreations } from '../api/open-creations.ts';
import { back, href, setQuery, usePlace } from '../router.ts';
import { useMay } from '../session.tsx';
import { Button } from '../ui/basics.tsx';
import { Field, Select, Text } from '../ui/form.tsx';
import { announce, Page } from '../ui/page.tsx';
import { Empty } from '../ui/states.tsx';
import { useSteady } from '../ui/steady.ts';
import { List } from '../ui/table.tsx';
import { utcDay } from '../words/figures.ts';
import { Grid } from './gallery/grid.tsx';
import { Selection } from './gallery/selection.tsx';
import { Viewer } from './gallery/viewer.tsx';
import { CreationTable } from './parts/creation-table.tsx';

const filters = ['status', 'model', 'key', 'user', 'day'] as const;
const statuses = ['queued', 'processing', 'completed', 'failed'];
const forms = [
  { value: 'grid', label: 'Grid' },
  { value: 'table', label: 'Table' },
];

export function Creations() {
  const { query } = usePlace();
  const asked = Object.fromEntries(filters.map((name) => [name, query.get(name) ?? '']));
  const rows = useRows('listPortalCreations', asked);
  const form = query.get('form') === 'table' ? 'table' : 'grid';
  const view = query.get('view');
  const [chosen, setChosen] = useState<ReadonlySet<string>>();
  const isFiltered = filters.some((name) => asked[name] !== '');
  useLiveRows(rows);
  const choose = (ids: readonly string[]): void => setChosen(new Set(ids));
  const toggle = (id: string): void =>
    choose(chosen?.has(id) === true ? [...chosen].filter((one) => one !== id) : [...(chosen ?? []), id]);
  return (
    <Page
      title="Creations"
      actions={
        <>
          <div class="switch" role="group" aria-label="Form of the list">
            {forms.map(({ value, label }) => (
              <Button
                text={label}
                key={value}
                aria-pressed={form === value}
                onClick={() => {
                  setChosen(undefined);
                  setQuery({ form: value === 'grid' ? undefined : value });
                }}
              />
            ))}
          </div>
          {form === 'grid' && (
            <Button
              text="Select"
              aria-pressed={chosen !== undefined}
              onClick={() => setChosen(chosen ? undefined : new Set())}
            />
          )}
          <Button text="Refresh" onClick={rows.reload} isBusy={rows.isLoading} />
        </>
      }
    >
      <Filters asked={asked} />
      {chosen && (
        <Selection
          rows={rows.data ?? []}
          chosen={chosen}
          onChoose={choose}
          onEnd={() => setChosen(undefined)}
        />
      )}
      <List of={rows} empty={<NoCreation isFiltered={isFiltered} />}>
        {(data) =>
          form === 'grid' ? (
            <Grid rows={data} chosen={chosen} onChoose={toggle} />
          ) : (
            <CreationTable caption="Creations, the newest first" rows={data} />
          )
        }
      </List>
      {view !== null && rows.data && (
        <Viewer
          rows={rows.data}
          id={view}
          onShow={(id) => setQuery({ view: id })}
          onClose={() => back({ view: undefined })}
        />
      )}
    </Page>
  );
}

/** Open creations are followed. When the person comes back to the page, newer ones are put above. */
function useLiveRows(rows: Rows<CreationRow>): void {
  const { data, reload } = rows;
  const first = useRef<string>(undefined);
  useOpenCreations(data ?? [], (newer) => rows.change((row) => (row.id === newer.id ? newer : row)));
  useSteady(data);
  useEffect(() => {
    const newest = data?.[0]?.id;
    const count = data?.findIndex(({ id }) => id === first.current) ?? -1;
    if (first.current !== undefined && count > 0)
      announce(count === 1 ? 'A new creation is above.' : `${count} new creations are above.`);
    first.current = newest;
  }, [data]);
  useReturn(reload);
}

function NoCreation({ isFiltered }: { isFiltered: boolean }) {
  const mayCreate = useMay('createCreation');
  if (isFiltered)
    return (
      <Empty title="No creation matches the filters">
        <Button
          text="Clear the filters"
          onClick={() => setQuery(Object.fromEntries(filters.map((name) => [name, ''])))}
        />
      </Empty>
    );
  return (
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
