/** The payments of the account with their outcomes. */
import { portalOperations, portalRoot } from '../../../../service/contract/operations.ts';
import type { PaymentView } from '../../../../service/contract/portal-views.ts';
import { Badge, Id, Money, Time, type Tone } from '../../ui/basics.tsx';
import { Table } from '../../ui/table.tsx';
import { money } from '../../words/figures.ts';

const kinds: Readonly<Record<PaymentView['kind'], string>> = {
  checkout: 'Payment',
  auto: 'Automatic top-up',
  outside: 'Other payment system',
};

const ofOperator = ': the operator checks it';

const states: Readonly<Record<PaymentView['state'], readonly [tone: Tone, words: string]>> = {
  open: ['busy', 'not paid yet'],
  processing: ['busy', 'on its way'],
  succeeded: ['good', 'received'],
  failed: ['bad', 'failed'],
  expired: ['calm', 'not paid'],
  unknown: ['warn', `unknown${ofOperator}`],
  held: ['warn', `held${ofOperator}`],
};

/**
 * @param isOperated for a person of the operator: with ids for the commands, without receipts of the account
 */
export function PaymentTable(props: { rows: readonly PaymentView[]; isOperated?: boolean }) {
  const { rows, isOperated = false } = props;
  return (
    <Table
      caption="Payments, the newest first"
      rows={rows}
      stacks
      keyOf={({ id }) => id}
      columns={[
        ['Time', ({ at }) => <Time at={at} form="full" />],
        ['Kind', ({ kind }) => kinds[kind]],
        ['State', (row) => <State of={row} isOperated={isOperated} />],
        isOperated
          ? ['Payment', ({ id }) => <Id of={id} label="the id of the payment" />]
          : ['Receipt', (row) => row.has_receipt && <Receipt of={row} />],
        ['Amount', ({ amount }) => <Money of={amount} digits={2} />, 'number'],
      ]}
    />
  );
}

function State({ of: { state, credited, reversed }, isOperated }: { of: PaymentView; isOperated: boolean }) {
  const [tone, words] = states[state];
  return (
    <>
      <Badge tone={tone}>{isOperated ? words.replace(ofOperator, '') : words}</Badge>
      {reversed > 0 && (
        <p class="dim line">{reversed === credited ? 'all of it' : money(reversed)} reversed</p>
      )}
    </>
  );
}

/** Stripe has the receipt. The address of the service leads there. */
function Receipt({ of: { id, amount } }: { of: PaymentView }) {
  const path = portalOperations.getReceipt.path.replace('{id}', encodeURIComponent(id));
  return (
    <a href={portalRoot + path} target="_blank" rel="noreferrer">
      Receipt<span class="hidden"> for {money(amount)} (opens in a new tab)</span>
    </a>
  );
}
