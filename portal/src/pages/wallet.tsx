import { useState } from 'preact/hooks';
import type { LedgerPage, LedgerView } from '../../../service/contract/portal-views.ts';
import { Refusal } from '../api/call.ts';
import { useResource, useRows } from '../api/hooks.ts';
import { useKept } from '../kept.ts';
import { later } from '../later.ts';
import { href } from '../router.ts';
import { useMay, useSession, OperatorContact } from '../session.tsx';
import { Button, Card, Clip, Figures, Money, Time } from '../ui/basics.tsx';
import { Page } from '../ui/page.tsx';
import { Empty, Failed, Loading } from '../ui/states.tsx';
import { List, Table } from '../ui/table.tsx';
import { digitsFor } from '../words/figures.ts';
import { Emails } from './parts/emails.tsx';
import { Export } from './parts/export.tsx';
import { Notices } from './parts/notices.tsx';
import type { BegunPayment } from './payments/add-money.tsx';

export function Wallet() {
  return useSession().me.service.takes_payments ? <PaidWallet /> : <PlainWallet />;
}

type Ledger = ReturnType<typeof useRows<'listLedger'>>;

function PlainWallet() {
  const ledger = useRows('listLedger');
  const { first } = ledger;
  return (
    <Page title="Wallet" actions={<Pay />}>
      {(first ?? ledger.error) ? <ByHand of={ledger} /> : <Loading rows={8} />}
    </Page>
  );
}

/** The wallet of a service that takes no payments. */
function ByHand({ of: ledger }: { of: Ledger }) {
  const { first } = ledger;
  const { service } = useSession().me;
  return (
    <>
      {first && <Balance of={first} />}
      {first && service.payment_url === null && (
        <p class="notice">
          The operator of this service tops the wallet up.{' '}
          <OperatorContact command={'wallet top-up ACCOUNT --amount 25 --reference "first top-up"'} />
        </p>
      )}
      <Movements of={ledger} />
    </>
  );
}

/** What only pages with payments have. */
export const paymentFile = later(() => import('./payments/payments.tsx'));
/** A person mostly needs the newest rows. "Show more" has the others. */
const fewRows = { limit: '5' };

/** The wallet of a service that takes payments. Everything is drawn at once, so that nothing moves. */
function PaidWallet() {
  const ledger = useRows('listLedger');
  const rows = useRows('listPayments', fewRows);
  const topUp = useResource('getAutoTopUp');
  const file = paymentFile.useFile();
  const mayPay = useMay('beginPayment');
  const [begun, setBegun] = useKept<BegunPayment | null>('add money', null);
  if (rows.error?.details['reason'] === 'payments_not_set_up')
    return (
      <Page title="Wallet">
        <ByHand of={ledger} />
      </Page>
    );
  const isThere = [ledger.first ?? ledger.error, rows.first ?? rows.error, topUp.data ?? topUp.error, file];
  return (
    <Page
      title="Wallet"
      actions={
        mayPay && (
          <Button
            text="Add money"
            class="primary"
            disabled={rows.first?.is_closed !== false}
            onClick={() => setBegun({ savesCard: false })}
          />
        )
      }
    >
      {isThere.includes(undefined) || file === undefined ? (
        <Loading rows={8} />
      ) : (
        <>
          {file instanceof Refusal ? (
            <Failed error={file} onRetry={() => location.reload()} />
          ) : (
            <file.Payments
              rows={rows}
              topUp={topUp}
              begun={begun}
              onBegin={setBegun}
              onMoney={ledger.reload}
              balance={ledger.first && <Balance of={ledger.first} />}
            />
          )}
          <Movements of={ledger} />
        </>
      )}
    </Page>
  );
}

function Movements({ of: ledger }: { of: Ledger }) {
  const { first } = ledger;
  return (
    <>
      <Card title="Ledger" actions={first && first.months.length > 0 && <ByMonth months={first.months} />}>
        <List
          of={ledger}
          empty={
            <Empty title="No movement yet">
              <p>A top-up, a charge or a refund appears here at once.</p>
            </Empty>
          }
        >
          {(rows) => <LedgerTable rows={rows} />}
        </List>
      </Card>
      <Notices />
      <Emails />
    </>
  );
}

/** The operator's own way to pay. */
function Pay() {
  const { service } = useSession().me;
  if (service.payment_url === null) return null;
  return (
    <a class="button primary" href={service.payment_url} target="_blank" rel="noreferrer">
      Pay
      <span class="hidden"> (opens in a new tab)</span>
    </a>
  );
}

function Balance({ of }: { of: LedgerPage }) {
  return (
    <Figures
      rows={[
        ['Available', <Money of={of.available} />, 'What new requests can spend.'],
        ['Balance', <Money of={of.balance} />],
        ['Credit line', <Money of={of.credit_line} />],
      ]}
    />
  );
}

function ByMonth({ months }: { months: readonly string[] }) {
  const [month, setMonth] = useState(months[0] ?? '');
  return (
    <>
      <label class="hidden" for="month">
        Month
      </label>
      <select
        id="month"
        class="small"
        value={month}
        onChange={(event) => setMonth(event.currentTarget.value)}
      >
        {months.map((one) => (
          <option key={one} value={one}>
            {one}
          </option>
        ))}
      </select>
      <a class="button small" href={href(`/statement?month=${month}`)}>
        Statement
      </a>
      <Export
        operation="exportLedger"
        query={{ month }}
        file={`darkroom-ledger-${month}.csv`}
        label="Download CSV"
        isSmall
      />
    </>
  );
}

export const kinds: Readonly<Record<LedgerView['kind'], string>> = {
  charge: 'Charge',
  refund: 'Refund',
  top_up: 'Top-up',
  adjustment: 'Adjustment',
  credit_line: 'Credit line',
  payment: 'Payment',
  payment_reversed: 'Payment reversed',
};

const Or = ({ text }: { text: string | null }) =>
  text === null ? <span class="dim">–</span> : <Clip text={text} />;

/** @param at the path of a creation's page, without its id */
export function LedgerTable(props: { rows: readonly LedgerView[]; at?: string }) {
  const { rows, at: creations = '/creations' } = props;
  const maySee = useMay('getPortalCreation');
  const digits = digitsFor(rows.map(({ amount }) => amount));
  const balanceDigits = digitsFor(rows.map(({ available }) => available));
  return (
    <Table
      caption="Ledger, the newest first"
      rows={rows}
      keyOf={({ at, kind, creation, amount, available }) => [at, kind, creation, amount, available].join(' ')}
      columns={[
        ['Time', ({ at }) => <Time at={at} form="full" />],
        ['Movement', ({ kind }) => kinds[kind]],
        [
          'Of',
          ({ creation, model, note }) =>
            creation === null ? (
              <Or text={note} />
            ) : (
              <>
                {maySee || props.at !== undefined ? (
                  <a href={href(`${creations}/${creation}`)}>
                    <code>…{creation.slice(-8)}</code>
                  </a>
                ) : (
                  <code>…{creation.slice(-8)}</code>
                )}{' '}
                <span class="dim">{model}</span>
              </>
            ),
          'wide',
        ],
        ['Key', ({ key, key_name: name }) => <Or text={name ?? key} />, 'wide'],
        ['User', ({ user }) => <Or text={user} />, 'wide'],
        ['Amount', ({ amount }) => <Money of={amount} digits={digits} signed />, 'number'],
        ['Available after', ({ available }) => <Money of={available} digits={balanceDigits} />, 'number'],
      ]}
    />
  );
}
