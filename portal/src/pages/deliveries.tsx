import { useState } from 'preact/hooks';
import { useAction, useRows } from '../api/hooks.ts';
import { href, setQuery, usePlace } from '../router.ts';
import { useMay } from '../session.tsx';
import { Form, Select } from '../ui/form.tsx';
import { announce, Dialog, Page } from '../ui/page.tsx';
import { Empty } from '../ui/states.tsx';
import { List } from '../ui/table.tsx';
import { DeliveryTable } from './delivery.tsx';
import { Button } from '../ui/basics.tsx';

const outcomes = [
  { value: '', label: 'All' },
  { value: 'failed', label: 'Failed' },
  { value: 'delivered', label: 'Delivered' },
  { value: 'unknown', label: 'Unknown' },
];

export function Deliveries() {
  const { query } = usePlace();
  const outcome = query.get('outcome') ?? '';
  const creation = query.get('creation') ?? '';
  const endpoint = query.get('endpoint') ?? '';
  const rows = useRows('listDeliveries', { outcome, creation, endpoint });
  const mayRedeliver = useMay('redeliverFailed');
  const [isOpen, setOpen] = useState(false);
  const [ofName, ofId] = creation !== '' ? ['Of the creation', creation] : ['To the endpoint', endpoint];
  const all = { outcome: '', creation: '', endpoint: '' };
  return (
    <Page
      title="Deliveries"
      lead="Each attempt to deliver a webhook or a notice. A webhook has up to five attempts."
      actions={
        <>
          <Button text="Refresh" onClick={rows.reload} isBusy={rows.isLoading} />
          {mayRedeliver && <Button text="Redeliver all failed…" onClick={() => setOpen(true)} />}
        </>
      }
    >
      <div class="filters">
        <Select
          label="Result"
          value={outcome}
          options={outcomes}
          onChange={(value) => setQuery({ outcome: value })}
        />
        {ofId !== '' && (
          <p>
            {ofName} <code>…{ofId.slice(-8)}</code>{' '}
            <Button text="Show all" class="small" onClick={() => setQuery({ ...all, outcome })} />
          </p>
        )}
      </div>
      <List
        of={rows}
        empty={
          outcome + ofId !== '' ? (
            <Empty title="No delivery matches the filter">
              <Button text="Show all" onClick={() => setQuery(all)} />
            </Empty>
          ) : (
            <Empty title="No delivery yet">
              <p>
                Name a <code>webhook_url</code> in a request, or{' '}
                <a href={href('/webhooks')}>send a test delivery</a>.
              </p>
            </Empty>
          )
        }
      >
        {(data) => <DeliveryTable caption="Deliveries, the newest first" rows={data} />}
      </List>
      {isOpen && (
        <RedeliverFailed
          endpoint={endpoint}
          onClose={() => setOpen(false)}
          onDone={(count) => {
            setOpen(false);
            rows.reload();
            announce(
              count === 0
                ? 'No webhook failed since then.'
                : `Redelivering ${count} ${count === 1 ? 'webhook' : 'webhooks'}.`,
            );
          }}
        />
      )}
    </Page>
  );
}

const spans = [
  { value: '1', label: 'the last hour' },
  { value: '24', label: 'the last 24 hours' },
  { value: '72', label: 'the last three days' },
  { value: '168', label: 'the last seven days' },
];

function RedeliverFailed(props: { endpoint: string; onClose: () => void; onDone: (count: number) => void }) {
  const { endpoint, onClose, onDone } = props;
  const [hours, setHours] = useState('24');
  const [count, setCount] = useState(0);
  const redeliver = useAction('redeliverFailed', (answer, input) => {
    const total = count + answer.redelivered;
    setCount(total);
    // The service takes them in portions.
    if (answer.has_more) redeliver.run(input);
    else onDone(total);
  });
  return (
    <Dialog title="Redeliver all failed" onClose={onClose}>
      <Form
        submit={redeliver.isBusy ? `Redelivering… ${count}` : 'Redeliver'}
        action={redeliver}
        onCancel={onClose}
        onSubmit={() => {
          setCount(0);
          const since = new Date(Date.now() - Number(hours) * 3_600_000).toISOString();
          redeliver.run({ body: { since, ...(endpoint !== '' && { endpoint }) } });
        }}
      >
        <p>
          Each creation whose webhook failed for good{endpoint !== '' && ' at this endpoint'} is delivered
          once more, with up to five new attempts. Your receiver may get an event that it knows.
        </p>
        <Select label="Failed in" value={hours} options={spans} onChange={setHours} />
      </Form>
    </Dialog>
  );
}
