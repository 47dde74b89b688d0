import { useRows } from '../api/hooks.ts';
import type { ActionView } from '../../../service/contract/portal-views.ts';
import { Badge, Clip, Time, type Tone } from '../ui/basics.tsx';
import { Page } from '../ui/page.tsx';
import { Empty } from '../ui/states.tsx';
import { List, Table } from '../ui/table.tsx';
import { actionText } from '../words/actions.ts';

const tones: Readonly<Record<ActionView['outcome'], Tone>> = { done: 'good', refused: 'bad', begun: 'warn' };
const words: Readonly<Record<ActionView['outcome'], string>> = {
  done: 'done',
  refused: 'refused',
  begun: 'outcome unknown',
};

function Action({ of }: { of: ActionView }) {
  const { text, name } = actionText(of);
  return (
    <>
      {text}
      {name !== null && (
        <>
          {' '}
          <strong>{name}</strong>
        </>
      )}
    </>
  );
}

export function Audit() {
  const rows = useRows('listActions');
  return (
    <Page
      title="Audit"
      lead="What people did in this portal, kept for 400 days."
      actions={
        <button type="button" onClick={rows.reload} aria-busy={rows.isLoading}>
          Refresh
        </button>
      }
    >
      <List of={rows} empty={<Empty title="Nobody has changed anything yet" />}>
        {(data) => (
          <Table
            caption="Actions, the newest first"
            rows={data}
            stacks
            keyOf={({ id }) => id}
            columns={[
              { head: 'Time', cell: ({ at }) => <Time at={at} form="full" /> },
              { head: 'Person', cell: ({ email }) => <Clip text={email} /> },
              { head: 'Action', cell: (row) => <Action of={row} />, isText: true },
              {
                head: 'Outcome',
                cell: ({ outcome }) => <Badge tone={tones[outcome]}>{words[outcome]}</Badge>,
              },
              {
                head: 'Of',
                isWide: true,
                cell: ({ target }) =>
                  target === null ? <span class="dim">–</span> : <code class="clip">{target}</code>,
              },
              {
                head: 'Remark',
                isWide: true,
                cell: (row) => actionText(row).remark ?? <span class="dim">–</span>,
              },
            ]}
          />
        )}
      </List>
    </Page>
  );
}
