/**
 * The parts of the wallet page of a service that takes payments: the outcome of the payment from which a
 * person comes back, the payments, the automatic top-up, and the dialog that begins a payment.
 */
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import type { AutoTopUpView, PaymentView } from '../../../../service/contract/portal-views.ts';
import type { useResource, useRows } from '../../api/hooks.ts';
import { useMay, OperatorContact } from '../../session.tsx';
import { Card } from '../../ui/basics.tsx';
import { Empty } from '../../ui/states.tsx';
import { List } from '../../ui/table.tsx';
import { AddMoney, type BegunPayment } from './add-money.tsx';
import { usePaymentPolls } from './poll-payments.ts';
import { PaymentTable } from './payment-table.tsx';
import { AutoTopUp } from './top-up.tsx';
import { ReturnedNotice, useReturned } from './returned.tsx';

export { PaymentTable };

type Rows = ReturnType<typeof useRows<'listPayments'>>;
type TopUp = ReturnType<typeof useResource<'getAutoTopUp'>>;

export function Payments(props: {
  rows: Rows;
  topUp: TopUp;
  /** The first amount in the dialog. Null: the dialog is closed. */
  begun: BegunPayment | null;
  onBegin: (begun: BegunPayment | null) => void;
  /** The wallet may have got or lost money. */
  onMoney: () => void;
  balance: ComponentChildren;
}) {
  const { rows, topUp, begun, onBegin, onMoney, balance } = props;
  const { first, data = [] } = rows;
  const last = useRef(new Map<string, string>());
  const onSeen = (payment: PaymentView): void => {
    const { id, state, credited } = payment;
    const now = `${state} ${credited}`;
    if (last.current.get(id) === now) return;
    last.current.set(id, now);
    if (data.some((row) => row.id === id)) rows.change((row) => (row.id === id ? payment : row));
    else rows.reload();
    onMoney();
    topUp.reload();
  };
  const returned = useReturned();
  usePaymentPolls(data, returned.id, (id, seen) => {
    returned.note(id, seen);
    if (seen) onSeen(seen);
  });
  return (
    <>
      <ReturnedNotice of={returned} />
      {first?.test_mode === true && (
        <p class="notice warn">Test mode: no money is real, and only test cards of Stripe pay.</p>
      )}
      {first?.is_closed === true && <Closed of={topUp.data} />}
      {balance}
      <AutoTopUp of={topUp} onAddMoney={() => onBegin({ savesCard: true })} />
      <Card title="Payments">
        <List of={rows} empty={<NoPayment />}>
          {(payments) => <PaymentTable rows={payments} />}
        </List>
      </Card>
      {begun && first && (
        <AddMoney
          begun={begun}
          of={first}
          onClose={() => onBegin(null)}
          onBack={() => {
            onBegin(null);
            rows.reload();
          }}
        />
      )}
    </>
  );
}

function Closed({ of }: { of: AutoTopUpView | undefined }) {
  const why =
    of?.paused === 'operator' ? 'The operator closed payments.' : 'Payments are closed after a dispute.';
  return (
    <p class="notice bad">
      {why} <OperatorContact command="payments clear ACCOUNT" />
    </p>
  );
}

function NoPayment() {
  return (
    <Empty title="No payment yet">
      <p>{useMay('beginPayment') ? 'Add money by card.' : 'An owner of the account can add money.'}</p>
    </Empty>
  );
}
