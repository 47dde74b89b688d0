/** The endpoints of the account: what became of their attempts, and a switch for each. */
import { useAction, useResource } from '../../api/hooks.ts';
import { useMay } from '../../session.tsx';
import { Button, Card, Clip, Meter } from '../../ui/basics.tsx';
import { Empty, Failed, Loaded } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';

export function Endpoints() {
  const endpoints = useResource('listPortalEndpoints');
  const turn = useAction('changePortalEndpoint', endpoints.reload);
  const mayChange = useMay('changePortalEndpoint');
  return (
    <Card title="Endpoints">
      {turn.error && <Failed error={turn.error} />}
      <Loaded of={endpoints}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="No endpoint yet: add one by POST /webhooks/endpoints" />
          ) : (
            <Table
              caption="Endpoints"
              rows={data}
              keyOf={({ id }) => id}
              columns={[
                ['Address', ({ url }) => <Clip text={url} />],
                [
                  '24 hours',
                  ({ delivered, failed, last_failure: last }) => {
                    const all = delivered + failed;
                    const words = `${delivered} of ${all} delivered`;
                    return (
                      <>
                        <Meter share={all && delivered / all} label={words} isGood /> {words} {last?.reason}
                      </>
                    );
                  },
                ],
                [
                  'State',
                  ({ id, url, enabled, disabled_reason: reason }) => {
                    const text = `Switch ${enabled ? 'off' : 'on'}`;
                    const run = (): void => turn.run({ id, body: { enabled: !enabled } });
                    return (
                      <>
                        {enabled ? 'on' : (reason ?? 'off')}{' '}
                        {mayChange && (
                          <Button text={text} aria-label={`${text} ${url}`} class="small" onClick={run} />
                        )}
                      </>
                    );
                  },
                ],
              ]}
            />
          )
        }
      </Loaded>
    </Card>
  );
}
