import { useResource, useRows } from '../api/hooks.ts';
import { href, setQuery, usePlace } from '../router.ts';
import { Button } from '../ui/basics.tsx';
import { Select } from '../ui/form.tsx';
import { Page } from '../ui/page.tsx';
import { Empty } from '../ui/states.tsx';
import { requestCodes } from '../words/request-codes.ts';
import { doors, RequestList } from './parts/request-list.tsx';

const filters = ['result', 'code', 'key', 'door'] as const;
const all = { value: '', label: 'All' };
const results = [
  all,
  { value: 'accepted', label: 'Accepted' },
  { value: 'refused', label: 'Refused' },
  { value: '4xx', label: 'Refused with 4xx' },
  { value: '5xx', label: 'Refused with 5xx' },
];

export function Requests() {
  const { query } = usePlace();
  const asked = Object.fromEntries(filters.map((name) => [name, query.get(name) ?? '']));
  const { result = '', ...others } = asked;
  const rows = useRows('listPortalRequests', {
    ...others,
    [/^\d/.test(result) ? 'status' : 'outcome']: result,
  });
  return (
    <Page
      title="Requests"
      lead="Requests of the last seven days, including refused requests. After ten refusals of a kind in a minute, one row shows the minimum number of further refusals."
      actions={<Button text="Refresh" onClick={rows.reload} isBusy={rows.isLoading} />}
    >
      <Filters asked={asked} />
      <RequestList
        rows={rows}
        empty={<NoRequest isFiltered={filters.some((name) => asked[name] !== '')} />}
        creationsAt="/creations"
      />
    </Page>
  );
}

function NoRequest({ isFiltered }: { isFiltered: boolean }) {
  return isFiltered ? (
    <Empty title="No request matches the filters">
      <Button
        text="Clear the filters"
        onClick={() => setQuery(Object.fromEntries(filters.map((name) => [name, ''])))}
      />
    </Empty>
  ) : (
    <Empty title="No request in seven days">
      <p>
        Send one with a <a href={href('/keys')}>key</a>.
      </p>
    </Empty>
  );
}

interface Option {
  readonly value: string;
  readonly label: string;
}

function Filters({ asked }: { asked: Readonly<Record<string, string>> }) {
  const keys = useResource('listKeys');
  const select = (name: string, label: string, options: readonly Option[]) => (
    <Select
      label={label}
      value={asked[name] ?? ''}
      options={options}
      onChange={(value) => setQuery({ [name]: value })}
    />
  );
  return (
    <div class="filters" role="search" aria-label="Filters">
      {select('result', 'Result', results)}
      {select('code', 'Code', [all, ...requestCodes.map((value) => ({ value, label: value }))])}
      {select('key', 'Key', [
        all,
        ...(keys.data?.data ?? []).map(({ id, name }) => ({ value: id, label: name })),
        { value: 'portal', label: 'Playground' },
      ])}
      {select('door', 'Way in', [all, ...Object.entries(doors).map(([value, label]) => ({ value, label }))])}
    </div>
  );
}
