import type { ProviderView } from '../../../../service/contract/portal-views.ts';
import { useResource } from '../../api/hooks.ts';
import { href } from '../../router.ts';
import { Badge, Clip, Meter, Time } from '../../ui/basics.tsx';
import { Page } from '../../ui/page.tsx';
import { Empty, Loaded } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';

export function Providers() {
  const providers = useResource('listProviders');
  return (
    <Page
      title="Providers"
      above="Operator"
      lead="How the attempts of the newest creations went. What a vendor declined, and what was cancelled, does not count against it."
    >
      <Loaded of={providers}>
        {({ data }) => (
          <Table
            caption="Providers"
            rows={data}
            keyOf={({ name }) => name}
            columns={[
              ['Provider', ({ name }) => <strong>{name}</strong>],
              ['State', (row) => <ProviderState of={row} />],
              ['Attempts', ({ attempts }) => attempts, 'number wide'],
              [
                'Succeeded',
                ({ succeeded, failed }) => <Succeeded succeeded={succeeded} of={succeeded + failed} />,
              ],
              [
                'Other outcomes',
                ({ outcomes }) =>
                  Object.entries(outcomes)
                    .map(([name, count]) => `${name} ${count}`)
                    .join(', ') || <span class="dim">none</span>,
                'wide',
              ],
              [
                'Median',
                ({ p50_seconds: seconds }) => (seconds === null ? '–' : `${seconds.toFixed(1)} s`),
                'number',
              ],
            ]}
          />
        )}
      </Loaded>
    </Page>
  );
}

function ProviderState({ of: { enabled, paused_since: since } }: { of: ProviderView }) {
  if (since === null) return enabled ? <Badge tone="good">enabled</Badge> : <Badge tone="calm">no key</Badge>;
  return (
    <>
      <Badge tone="warn">paused</Badge>{' '}
      <span class="dim">
        since <Time at={since} />
      </span>
    </>
  );
}

function Succeeded({ succeeded, of }: { succeeded: number; of: number }) {
  if (of === 0) return <span class="dim">–</span>;
  return (
    <>
      {((succeeded / of) * 100).toFixed(0)} %
      <Meter isGood share={succeeded / of} label={`${succeeded} of ${of} succeeded`} />
    </>
  );
}

export function FailingWebhooks() {
  const webhooks = useResource('listFailingWebhooks');
  return (
    <Page
      title="Failing webhooks"
      above="Operator"
      lead="Webhooks and notices of all accounts of which an attempt failed and another one follows."
    >
      <Loaded of={webhooks}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="No webhook is failing" />
          ) : (
            <Table
              caption="Failing webhooks"
              rows={data}
              keyOf={({ account, creation, host, next_attempt_at: at }) =>
                [account, creation, host, at].join(' ')
              }
              columns={[
                [
                  'Account',
                  ({ account, account_name: name }) => (
                    <a href={href(`/operator/accounts/${encodeURIComponent(account)}`)}>
                      <Clip text={name} />
                    </a>
                  ),
                ],
                ['Host', ({ host }) => <Clip text={host} />],
                [
                  'Creation',
                  ({ creation }) =>
                    creation === null ? <span class="dim">a notice</span> : <code>{creation}</code>,
                  'wide',
                ],
                ['Attempts', ({ attempts }) => attempts, 'number wide'],
                ['Next attempt', ({ next_attempt_at: at }) => <Time at={at} form="relative" />, 'number'],
              ]}
            />
          )
        }
      </Loaded>
    </Page>
  );
}
