/** Where notices go, and below which balance one is sent. */
import type { AlertsView } from '../../../../service/contract/portal-views.ts';
import { useAction, useResource } from '../../api/hooks.ts';
import { useMay } from '../../session.tsx';
import { Card, Facts, Money } from '../../ui/basics.tsx';
import { Amount, Form, Text, useDraft } from '../../ui/form.tsx';
import { announce } from '../../ui/page.tsx';
import { Loaded } from '../../ui/states.tsx';
import { money, parseAmount } from '../../words/figures.ts';

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
            <Facts
              rows={[
                ['Notices go to', data.notice_url ?? 'nowhere'],
                ['Low balance', data.low_balance === null ? 'no notice' : <Money of={data.low_balance} />],
              ]}
            />
          )
        }
      </Loaded>
    </Card>
  );
}

interface Values {
  readonly notice_url: string;
  readonly low_balance: string;
}

function wordsOf(name: keyof Values, value: string): string {
  if (name === 'notice_url') return value === '' ? 'nowhere' : value;
  return value === '' ? 'never' : money(Number(value));
}

function NoticesForm({ data, onReload }: { data: AlertsView; onReload: () => void }) {
  const stored: Values = {
    notice_url: data.notice_url ?? '',
    low_balance: data.low_balance === null ? '' : String(data.low_balance),
  };
  const draft = useDraft('notices', stored, wordsOf);
  const { notice_url: url, low_balance: low } = draft.values;
  const save = useAction('setAlerts', () => {
    announce('The notices are saved.');
    onReload();
  });
  const amount = parseAmount(low);
  const { changed } = draft;
  return (
    <Form
      submit="Save"
      action={save}
      isDisabled={amount === undefined || draft.isUndecided || Object.keys(changed).length === 0}
      onReload={onReload}
      onSubmit={() =>
        save.run({
          body: {
            ...(changed.notice_url !== undefined && { notice_url: url.trim() === '' ? null : url.trim() }),
            ...(changed.low_balance !== undefined && { low_balance: amount ?? null }),
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
          onInput={(value) => draft.set('notice_url', value)}
          theirs={draft.theirs('notice_url')}
          hint="An address of yours. Notices are signed like webhooks."
          error={save.error?.fields.get('notice_url')}
        />
        <Amount
          label="Notify when less is available than (USD)"
          placeholder="Never"
          value={low}
          onInput={(value) => draft.set('low_balance', value)}
          theirs={draft.theirs('low_balance')}
          hint="Sends wallet.low once each time the balance falls below this."
          error={
            amount === undefined ? 'An amount such as 25 or 0.50.' : save.error?.fields.get('low_balance')
          }
        />
      </div>
    </Form>
  );
}
