import type { RequestRow } from '../../../service/contract/portal-views.ts';
import { useResource, useRows } from '../api/hooks.ts';
import { back, href, setQuery, usePlace } from '../router.ts';
import { useSession } from '../session.tsx';
import { Badge, Button, Clip, Code, Facts, Id, Time } from '../ui/basics.tsx';
import { Select } from '../ui/form.tsx';
import { Dialog, Page } from '../ui/page.tsx';
import { Empty } from '../ui/states.tsx';
import { List, Table } from '../ui/table.tsx';
import { durationText } from '../words/figures.ts';
import { requestCodes } from '../words/request-codes.ts';
import { requestCurl } from '../words/snippets.ts';

const filters = ['result', 'code', 'key', 'door'] as const;
const all = { value: '', label: 'All' };
const results = [
  all,
  { value: 'accepted', label: 'Accepted' },
  { value: 'refused', label: 'Refused' },
  { value: '4xx', label: 'Refused with 4xx' },
  { value: '5xx', label: 'Refused with 5xx' },
];
const doors = { api: 'API', openai: 'OpenAI shape', mcp: 'MCP', portal: 'Playground' } as const;
const nothing = <span class="dim">–</span>;

export function Requests() {
  const { query } = usePlace();
  const asked = Object.fromEntries(filters.map((name) => [name, query.get(name) ?? '']));
  const { result = '', ...others } = asked;
  const rows = useRows('listPortalRequests', {
    ...others,
    [/^\d/.test(result) ? 'status' : 'outcome']: result,
  });
  const view = query.get('view');
  const shown = rows.data?.find(({ id }) => id === view);
  const linkTo = (id: string): string => {
    const next = new URLSearchParams(query);
    next.set('view', id);
    return href(`/requests?${next.toString()}`);
  };
  return (
    <Page
      title="Requests"
      lead="The requests of the last seven days, refused ones too. After ten refusals of a kind in a minute, one row counts the others: at least so many."
      actions={<Button text="Refresh" onClick={rows.reload} isBusy={rows.isLoading} />}
    >
      <Filters asked={asked} />
      <List of={rows} empty={<NoRequest isFiltered={filters.some((name) => asked[name] !== '')} />}>
        {(data) => <RequestTable rows={data} linkTo={linkTo} />}
      </List>
      {shown && (
        <Dialog title="Request" onClose={() => back({ view: undefined })}>
          <Detail of={shown} />
        </Dialog>
      )}
    </Page>
  );
}

function NoRequest({ isFiltered }: { isFiltered: boolean }) {
  return isFiltered ? (
    <Empty title="No request fits the filters">
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

function Result({ of: { outcome, status } }: { of: RequestRow }) {
  if (outcome === 'accepted') return <Badge tone="good">accepted</Badge>;
  return <Badge tone={(status ?? 0) >= 500 ? 'bad' : 'warn'}>refused {status}</Badge>;
}

const doorOf = ({ door }: RequestRow) => (door === null ? nothing : doors[door]);

function RequestTable({ rows, linkTo }: { rows: readonly RequestRow[]; linkTo: (id: string) => string }) {
  return (
    <Table
      caption="Requests, the newest first"
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        [
          'Time',
          ({ id, at }) => (
            <a href={linkTo(id)}>
              <Time at={at} form="full" />
            </a>
          ),
        ],
        ['Result', (row) => <Result of={row} />],
        [
          'Why',
          ({ code, reason, field }) =>
            field === null ? <code class="line">{reason ?? code ?? '–'}</code> : <Clip text={field} />,
        ],
        ['Way in', doorOf, 'wide'],
        ['Key', ({ key }) => <Clip text={key.name} />, 'wide'],
        ['Took', ({ ms }) => (ms === null ? nothing : durationText(ms)), 'number wide'],
        ['Requests', ({ count }) => (count > 1 ? `at least ${count}` : count), 'number wide'],
      ]}
    />
  );
}

function Detail({ of }: { of: RequestRow }) {
  const { me } = useSession();
  const { creation, token, request_id: id } = of;
  return (
    <>
      {of.message !== null && <p class="notice bad">{of.message}</p>}
      <Facts
        rows={[
          ['Result', <Result of={of} />],
          ['Time', <Time at={of.at} form="full" />],
          of.count > 1 && ['Requests', `at least ${of.count} of this kind in this minute; this is the last`],
          of.code !== null && ['Code', <code>{of.code}</code>],
          of.reason !== null && ['Reason', <code>{of.reason}</code>],
          of.field !== null && ['Field', <code>{of.field}</code>],
          of.path !== null && ['Request', <code>{`${of.method ?? ''} ${of.path}`}</code>],
          ['Way in', doorOf(of)],
          ['Key', of.key.name],
          token !== null && ['Token', <Id of={token} label="the id of the token" plain />],
          id !== null && ['Request id', <Id of={id} label="the id of the request" plain />],
          of.ms !== null && ['Took', durationText(of.ms)],
          of.address !== null && ['Network', of.address],
          creation !== null && [
            'Creation',
            <a href={href(`/creations/${creation}`)}>
              <Id of={creation} label="the id of the creation" plain />
            </a>,
          ],
        ]}
      />
      {of.body === null ? (
        <p class="dim">No body is kept.</p>
      ) : (
        <>
          <h3>Body</h3>
          <p class="dim">Secrets, pictures and what is too long are cut out.</p>
          <Code text={of.body} label="the body of the request" />
        </>
      )}
      <h3>As curl</h3>
      <Code text={requestCurl(of, me.service)} label="the request as curl" />
    </>
  );
}
