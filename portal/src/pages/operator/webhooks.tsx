import { useResource } from '../../api/hooks.ts';
import { href } from '../../router.ts';
import { Clip, Time } from '../../ui/basics.tsx';
import { Page } from '../../ui/page.tsx';
import { Empty, Loaded } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';

export function FailingWebhooks() {
  const webhooks = useResource('listFailingWebhooks');
  return (
    <Page
      title="Failing webhooks"
      above="Operator"
      lead="Webhooks and notices of all accounts with a failed attempt and another attempt to come."
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
                    creation === null ? (
                      <span class="dim">a notice</span>
                    ) : (
                      <a href={href(`/operator/creations/${creation}`)}>
                        <code class="line">…{creation.slice(-8)}</code>
                      </a>
                    ),
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
