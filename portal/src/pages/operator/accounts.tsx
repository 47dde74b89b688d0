import { useAction, useRows } from '../../api/hooks.ts';
import type { OperatedAccount } from '../../../../service/contract/portal-views.ts';
import { begunInput } from '../../fresh.ts';
import { useKept } from '../../kept.ts';
import { go, href } from '../../router.ts';
import { announce } from '../../ui/announce.tsx';
import { Badge, Clip, Money, type Tone } from '../../ui/basics.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Amount, Form, Text } from '../../ui/form.tsx';
import { Page } from '../../ui/page.tsx';
import { Empty, Failed } from '../../ui/states.tsx';
import { List, Table } from '../../ui/table.tsx';
import { digitsFor, parseAmount } from '../../words/money.ts';

const tones: Readonly<Record<OperatedAccount['condition'], Tone>> = {
  active: 'good',
  suspended: 'warn',
  disabled: 'bad',
};

export function Condition({ of }: { of: OperatedAccount['condition'] }) {
  return <Badge tone={tones[of]}>{of}</Badge>;
}

/** Of the account's webhooks. They are counted for an account that gets notices. */
export function FailuresInARow({ of: { webhook_failures: count } }: { of: OperatedAccount }) {
  if (count === null) return <span class="dim">not counted</span>;
  return count === 0 ? <span class="dim">0</span> : <strong class="soon">{count}</strong>;
}

export function Accounts() {
  const rows = useRows('listAccounts');
  const [isOpen, setOpen] = useKept('accounts', () => begunInput('openAccount') !== undefined);
  const open = useAction('openAccount', ({ id, name }) => {
    announce(`The account ${name} is open.`);
    go(`/operator/accounts/${id}`);
  });
  return (
    <Page
      title="Accounts"
      above="Operator"
      actions={
        <button type="button" class="primary" onClick={() => setOpen(true)}>
          Open an account
        </button>
      }
    >
      {!isOpen && open.error && <Failed error={open.error} />}
      <List of={rows} empty={<Empty title="No account yet">Open the first one.</Empty>}>
        {(data) => <AccountTable rows={data} />}
      </List>
      {isOpen && (
        <Dialog title="Open an account" onClose={() => setOpen(false)}>
          <OpenForm action={open} onCancel={() => setOpen(false)} />
        </Dialog>
      )}
    </Page>
  );
}

function OpenForm({
  action,
  onCancel,
}: {
  action: ReturnType<typeof useAction<'openAccount'>>;
  onCancel: () => void;
}) {
  const [name, setName] = useKept('name', '');
  const [balance, setBalance] = useKept('balance', '');
  const amount = parseAmount(balance);
  const fields = action.error?.fields;
  return (
    <Form
      submit="Open the account"
      isBusy={action.isBusy}
      isDisabled={name.trim() === '' || amount === undefined}
      error={action.error}
      onCancel={onCancel}
      onSubmit={() =>
        action.run({ body: { name: name.trim(), ...(typeof amount === 'number' && { balance: amount }) } })
      }
    >
      <Text label="Name" value={name} onInput={setName} isRequired autoFocus error={fields?.get('name')} />
      <Amount
        label="First balance (USD)"
        placeholder="0"
        value={balance}
        onInput={setBalance}
        error={amount === undefined ? 'An amount such as 25 or 0.50.' : fields?.get('balance')}
      />
    </Form>
  );
}

function AccountTable({ rows }: { rows: readonly OperatedAccount[] }) {
  const digits = digitsFor(rows.map(({ available }) => available));
  return (
    <Table
      caption="Accounts of the service"
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        {
          head: 'Account',
          cell: ({ id, name }) => (
            <a href={href(`/operator/accounts/${encodeURIComponent(id)}`)}>
              <Clip text={name} />
            </a>
          ),
        },
        { head: 'Condition', cell: ({ condition }) => <Condition of={condition} /> },
        {
          head: 'Available',
          isNumber: true,
          cell: ({ available }) => <Money of={available} digits={digits} />,
        },
        {
          head: 'Credit line',
          isNumber: true,
          isWide: true,
          cell: ({ credit_line: line }) => <Money of={line} />,
        },
        {
          head: 'In flight',
          isNumber: true,
          isWide: true,
          cell: ({ in_flight: count, limits }) => `${count} of ${limits.max_concurrent}`,
        },
        {
          head: 'Failed attempts in a row',
          isNumber: true,
          isWide: true,
          cell: (account) => <FailuresInARow of={account} />,
        },
      ]}
    />
  );
}
