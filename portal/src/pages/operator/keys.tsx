import type { OperatorKeyView } from '../../../../service/contract/portal-views.ts';
import { useResource } from '../../api/hooks.ts';
import { Clip, Meter, Money } from '../../ui/basics.tsx';
import { Page } from '../../ui/page.tsx';
import { Empty, Loaded } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { money } from '../../words/figures.ts';
import { KeyState, LastUse } from '../parts/key-words.tsx';

/** The keys of the operator API, read-only. Only the command makes and changes them. */
export function OperatorKeys() {
  const keys = useResource('listOperatorKeys');
  return (
    <Page
      title="Operator keys"
      above="Operator"
      lead="A back end of yours calls the operator API with one of these. The command “operator-keys” makes and changes them."
    >
      <Loaded of={keys}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="No operator key yet">
              <p>
                <code>operator-keys create --name NAME --scopes LIST</code>
              </p>
            </Empty>
          ) : (
            <KeyTable rows={data} />
          )
        }
      </Loaded>
    </Page>
  );
}

function KeyTable({ rows }: { rows: readonly OperatorKeyView[] }) {
  return (
    <Table
      caption="Keys of the operator API"
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        [
          'Key',
          ({ id, name }) => (
            <>
              <strong>
                <Clip text={name} />
              </strong>
              <br />
              <code class="dim">dk_op_{id}…</code>
            </>
          ),
        ],
        ['State', (key) => <KeyState of={key} />],
        ['May', ({ scopes }) => scopes.join(', '), 'wide'],
        [
          'From',
          ({ from }) => (from === null ? <span class="dim">every address</span> : from.join(', ')),
          'wide',
        ],
        ['Credited today', (key) => <Credited of={key} />],
        ['Last used', ({ last_used_at: used }) => <LastUse at={used} />, 'wide'],
      ]}
    />
  );
}

function Credited({ of: { credited_today: spent, daily_credit_cap: cap } }: { of: OperatorKeyView }) {
  if (cap === null)
    return (
      <>
        <Money of={spent} /> <span class="dim">without a cap</span>
      </>
    );
  return (
    <>
      <Money of={spent} /> <span class="dim">of {money(cap)}</span>
      <Meter share={cap === 0 ? 1 : spent / cap} label={`${money(spent)} of ${money(cap)} today`} />
    </>
  );
}
