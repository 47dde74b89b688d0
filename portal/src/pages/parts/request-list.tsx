/** A list of requests. The one that the address names opens in a dialog, with its body. */
import type { ComponentChildren } from 'preact';
import type { RequestRow } from '../../../../service/contract/portal-views.ts';
import type { Rows } from '../../api/hooks.ts';
import { back, href, usePlace } from '../../router.ts';
import { useSession } from '../../session.tsx';
import { Badge, Clip, Code, Facts, Id, Time } from '../../ui/basics.tsx';
import { Dialog } from '../../ui/page.tsx';
import { List, Table } from '../../ui/table.tsx';
import { durationText } from '../../words/figures.ts';
import { requestCurl } from '../../words/snippets.ts';

export const doors = { api: 'API', openai: 'OpenAI shape', mcp: 'MCP', portal: 'Playground' } as const;
const nothing = <span class="dim">–</span>;

export function RequestList({
  rows,
  empty,
  creationsAt,
}: {
  rows: Rows<RequestRow>;
  empty: ComponentChildren;
  /** The page of a creation is below this path. */
  creationsAt: string;
}) {
  const { path, query } = usePlace();
  const view = query.get('view');
  const shown = rows.data?.find(({ id }) => id === view);
  const linkTo = (id: string): string => {
    const next = new URLSearchParams(query);
    next.set('view', id);
    return href(`${path}?${next.toString()}`);
  };
  return (
    <>
      <List of={rows} empty={empty}>
        {(data) => <RequestTable rows={data} linkTo={linkTo} />}
      </List>
      {shown && (
        <Dialog title="Request" onClose={() => back({ view: undefined })}>
          <Detail of={shown} creationsAt={creationsAt} />
        </Dialog>
      )}
    </>
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

function Detail({ of, creationsAt }: { of: RequestRow; creationsAt: string }) {
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
            <a href={href(`${creationsAt}/${creation}`)}>
              <Id of={creation} label="the id of the creation" plain />
            </a>,
          ],
        ]}
      />
      {of.body === null ? (
        <p class="dim">No body is stored.</p>
      ) : (
        <>
          <h3>Body</h3>
          <p class="dim">Secrets, pictures and overlong parts are removed.</p>
          <Code text={of.body} label="the body of the request" />
        </>
      )}
      <h3>As curl</h3>
      <Code text={requestCurl(of, me.service)} label="the request as curl" />
    </>
  );
}
