/** The first page of the operator: what fails now, and the creations that are open. */
import type {
  HeldPaymentView,
  OpenCreation,
  PageView,
  PauseView,
  ServiceView,
} from '../../../../service/contract/portal-views.ts';
import { type Resource, useResource } from '../../api/hooks.ts';
import { href, usePlace } from '../../router.ts';
import { useSession } from '../../session.tsx';
import { Badge, Button, Card, Clip, Id, Money, Time } from '../../ui/basics.tsx';
import { Page } from '../../ui/page.tsx';
import { Empty, Failed, Loaded, Loading } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { CreationState } from '../parts/creation-table.tsx';

export function Service() {
  return useSession().me.service.takes_payments ? <WithPayments /> : <Cards />;
}

type Held = Resource<PageView<HeldPaymentView>>;

function WithPayments() {
  return <Cards held={useResource('listHeldPayments')} />;
}

function Cards({ held }: { held?: Held }) {
  const { query } = usePlace();
  const band = query.get('band') ?? '';
  const service = useResource('getService', { query: { band } });
  // Before the operator has set up payments, no payment is held.
  const error = held?.error?.details['reason'] === 'payments_not_set_up' ? undefined : held?.error;
  const payments = held?.data?.data ?? [];
  return (
    <Page
      title="Service"
      above="Operator"
      actions={
        <Button
          text="Refresh"
          onClick={() => {
            service.reload();
            held?.reload();
          }}
          isBusy={service.isLoading}
        />
      }
    >
      {held && !held.data && !held.error ? (
        <Loading rows={8} />
      ) : (
        <Loaded of={service} rows={8}>
          {(data) => (
            <>
              {error && <Failed error={error} onRetry={held?.reload} />}
              <Card title="What fails now">
                <Troubles of={data} held={payments.length} />
              </Card>
              {payments.length > 0 && <HeldPayments rows={payments} />}
              <Card title="Open creations by age">
                <Bands of={data.open} chosen={band} />
              </Card>
              <Card
                title={band === '' ? 'The oldest open creations' : `Open for ${wordsOf(data.open, band)}`}
              >
                <Oldest rows={data.open.oldest} />
              </Card>
            </>
          )}
        </Loaded>
      )}
    </Page>
  );
}

/** Stripe took another amount than the account had to pay, so nothing was credited. */
function HeldPayments({ rows }: { rows: readonly HeldPaymentView[] }) {
  return (
    <Card title="Held payments">
      <Table
        caption="Held payments"
        rows={rows}
        keyOf={({ id }) => id}
        columns={[
          ['Time', ({ at }) => <Time at={at} />],
          [
            'Account',
            ({ account, account_name: name }) => (
              <a href={href(`/operator/accounts/${encodeURIComponent(account)}/payments`)}>
                <Clip text={name ?? account} />
              </a>
            ),
          ],
          ['Payment', ({ id }) => <Id of={id} label="the id of the payment" />, 'wide'],
          ['Amount', ({ amount }) => <Money of={amount} />, 'number'],
        ]}
      />
      <p class="dim">
        The command says why: <code>npm run admin -- payments show ID</code>
      </p>
    </Card>
  );
}

const counted = (count: number, one: string, more: string): string =>
  count === 1 ? `One ${one}` : `${count} ${more}`;

export const routeWords = (of: Pick<PauseView, 'provider' | 'model' | 'quality'>): string =>
  [of.provider, of.model, of.quality].filter((word) => word !== null).join(' ');

function Troubles({
  of: { open_circuits: circuits, pauses, failing_webhooks: failing, open },
  held,
}: {
  of: ServiceView;
  held: number;
}) {
  const isWell = circuits.length + pauses.length + failing + open.overdue + held === 0;
  if (isWell) return <p>Nothing fails. No provider is paused.</p>;
  return (
    <ul class="plain troubles">
      {open.overdue > 0 && (
        <li>
          <Badge tone="bad">late</Badge>{' '}
          <a href={href('/operator?band=720')}>
            {counted(open.overdue, 'creation is', 'creations are')} open for longer than the time limit
          </a>
        </li>
      )}
      {circuits.map((route) => (
        <li key={routeWords(route)}>
          <Badge tone="bad">failing</Badge> <a href={href('/operator/providers')}>{routeWords(route)}</a>:
          other routes are asked first since <Time at={route.since} />
        </li>
      ))}
      {held > 0 && (
        <li>
          <Badge tone="bad">held</Badge> {counted(held, 'payment waits', 'payments wait')} for you
        </li>
      )}
      {failing > 0 && (
        <li>
          <Badge tone="warn">webhooks</Badge>{' '}
          <a href={href('/operator/webhooks')}>{counted(failing, 'webhook is', 'webhooks are')} failing</a>
        </li>
      )}
      {pauses.map((pause) => (
        <li key={routeWords(pause)}>
          <Badge tone="warn">paused</Badge> <a href={href('/operator/providers')}>{routeWords(pause)}</a>{' '}
          since <Time at={pause.since} />
          {pause.reason !== null && `: ${pause.reason}`}
        </li>
      ))}
    </ul>
  );
}

type Open = ServiceView['open'];

/** "1 to 5 minutes", "12 minutes and longer" */
function bandWords({ from_seconds: from, to_seconds: to }: Open['bands'][number]): string {
  if (to === null) return `${from / 60} minutes and longer`;
  return from === 0 ? `less than ${to / 60} minute` : `${from / 60} to ${to / 60} minutes`;
}

function wordsOf({ bands }: Open, chosen: string): string {
  const band = bands.find(({ from_seconds: from }) => String(from) === chosen);
  return band ? bandWords(band) : '';
}

function Bands({ of: { bands, count, has_all: hasAll }, chosen }: { of: Open; chosen: string }) {
  const most = Math.max(1, ...bands.map((band) => band.count));
  return (
    <>
      <ul class="plain bands">
        {bands.map((band) => (
          <li key={band.from_seconds}>
            <a
              href={href(`/operator?band=${band.from_seconds}`)}
              {...(chosen === String(band.from_seconds) && { 'aria-current': 'true' as const })}
            >
              {bandWords(band)}
            </a>
            <svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true" focusable="false">
              <rect
                width={(100 * band.count) / most}
                height="6"
                class={band.to_seconds === null ? 'bad' : ''}
              />
            </svg>
            <span class="count">{band.count}</span>
          </li>
        ))}
      </ul>
      <p class="dim">
        {count} in all{!hasAll && ', and more than the service counts at once'}.{' '}
        {chosen !== '' && <a href={href('/operator')}>Show all ages</a>}
      </p>
    </>
  );
}

function Oldest({ rows }: { rows: readonly OpenCreation[] }) {
  if (rows.length === 0) return <Empty title="No creation is open" />;
  return (
    <Table
      caption="Open creations, the oldest first"
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        [
          'Creation',
          ({ id }) => (
            <a href={href(`/operator/creations/${id}`)}>
              <Id of={id} label="the id of the creation" plain />
            </a>
          ),
        ],
        [
          'Account',
          ({ account, account_name: name }) => (
            <a href={href(`/operator/accounts/${encodeURIComponent(account)}`)}>
              <Clip text={name} />
            </a>
          ),
        ],
        [
          'State',
          (row) => (
            <>
              <CreationState of={{ ...row, cancelled_at: null }} />{' '}
              {row.is_overdue && <Badge tone="bad">late</Badge>}
            </>
          ),
        ],
        ['Model', ({ model }) => model, 'wide'],
        ['Last provider', ({ provider }) => provider ?? <span class="dim">none</span>, 'wide'],
        ['Created', ({ created_at: at }) => <Time at={at} form="relative" />, 'number'],
      ]}
    />
  );
}
