/** A creation of any account: the view of its client, and the attempts at providers. */
import type { OperatedCreation as Shown } from '../../../../service/contract/portal-views.ts';
import { useResource } from '../../api/hooks.ts';
import { href } from '../../router.ts';
import { Card, Clip, Facts, Id, Money, Time } from '../../ui/basics.tsx';
import { Page } from '../../ui/page.tsx';
import { Empty, Loaded } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { durationText } from '../../words/figures.ts';
import { CreationContent } from '../creation.tsx';

export function OperatedCreation({ id }: { id: string }) {
  const creation = useResource('showOperatedCreation', { id });
  return (
    <Page
      title="Creation"
      above={<a href={href('/operator')}>Service</a>}
      lead={<Id of={id} label="the id of the creation" />}
    >
      <Loaded of={creation}>
        {(of) => (
          <>
            <Card title="Only for the operator">
              <Facts
                rows={[
                  [
                    'Account',
                    <a href={href(`/operator/accounts/${encodeURIComponent(of.account)}`)}>
                      <Clip text={of.account_name} />
                    </a>,
                  ],
                  [
                    'Request',
                    of.request_id === null ? (
                      <span class="dim">unknown</span>
                    ) : (
                      <Id of={of.request_id} label="the id of the request" />
                    ),
                  ],
                  ['Time limit', <Time at={of.deadline_at} form="full" />],
                ]}
              />
              <Attempts rows={of.attempts} />
            </Card>
            <CreationContent of={of} isOperated />
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Attempts({ rows }: { rows: Shown['attempts'] }) {
  if (rows.length === 0) return <Empty title="No provider was asked yet" />;
  return (
    <Table
      caption="Attempts at providers"
      rows={rows}
      keyOf={({ provider, model, started_at: at }) => [provider, model, at].join(' ')}
      columns={[
        ['Provider', ({ provider }) => <strong>{provider}</strong>],
        ['Model', ({ model }) => <Clip text={model} />, 'wide'],
        ['Outcome', ({ outcome }) => outcome],
        [
          'Answer',
          ({ detail }) => (detail === null ? <span class="dim">–</span> : <Clip text={detail} />),
          'wide',
        ],
        ['Began', ({ started_at: at }) => <Time at={at} form="full" />, 'number wide'],
        ['Took', ({ ms }) => (ms === null ? '–' : durationText(ms)), 'number'],
        ['Billed', ({ cost }) => (cost === null ? '–' : <Money of={cost} />), 'number wide'],
      ]}
    />
  );
}
