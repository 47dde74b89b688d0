/** Where notices go, and below which balance one is sent. */
import { useState } from 'preact/hooks';
import { useAction, useResource } from '../../api/hooks.ts';
import type { AlertsView } from '../../../../core/portal/views.ts';
import { useMay } from '../../session.ts';
import { announce } from '../../ui/announce.tsx';
import { Card, Fact, Facts, Money } from '../../ui/basics.tsx';
import { Amount, Form, Text } from '../../ui/form.tsx';
import { Loaded } from '../../ui/states.tsx';
import { parseAmount } from '../../words/money.ts';

export function Notices() {
  const alerts = useResource('getAlerts');
  const mayChange = useMay('setAlerts');
  return (
    <Card title="Notices and the low balance" id="notices">
      <Loaded of={alerts} rows={2}>
        {(data) =>
          mayChange ? (
            <NoticesForm data={data} onReload={alerts.reload} />
          ) : (
            <Facts>
              <Fact name="Notices go to">{data.notice_url ?? 'nowhere'}</Fact>
              <Fact name="Low balance">
                {data.low_balance === null ? 'never told' : <Money of={data.low_balance} />}
              </Fact>
            </Facts>
          )
        }
      </Loaded>
    </Card>
  );
}

function NoticesForm({ data, onReload }: { data: AlertsView; onReload: () => void }) {
  const [url, setUrl] = useState(data.notice_url ?? '');
  const [low, setLow] = useState(data.low_balance === null ? '' : String(data.low_balance));
  const save = useAction('setAlerts', () => {
    announce('The notices are saved.');
    onReload();
  });
  const amount = parseAmount(low);
  const hasChanged = url.trim() !== (data.notice_url ?? '') || amount !== data.low_balance;
  return (
    <Form
      submit="Save"
      isBusy={save.isBusy}
      isDisabled={amount === undefined || !hasChanged}
      error={save.error}
      onReload={() => {
        save.clear();
        onReload();
      }}
      onSubmit={() =>
        save.run({
          body: {
            notice_url: url.trim() === '' ? null : url.trim(),
            low_balance: amount ?? null,
            version: data.version,
          },
        })
      }
    >
      <div class="pair">
        <Text
          label="Notices go to"
          type="url"
          inputMode="url"
          placeholder="Nowhere"
          value={url}
          onInput={setUrl}
          hint="An address of yours. Notices are signed like webhooks."
          error={save.error?.fields.get('notice_url')}
        />
        <Amount
          label="Tell when less is available than (USD)"
          placeholder="Never"
          value={low}
          onInput={setLow}
          hint="The notice wallet.low, once a crossing."
          error={
            amount === undefined ? 'An amount such as 25 or 0.50.' : save.error?.fields.get('low_balance')
          }
        />
      </div>
    </Form>
  );
}
