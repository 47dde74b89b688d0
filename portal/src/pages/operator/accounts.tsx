import type { OperatedAccount } from '../../../../service/contract/portal-views.ts';
import { useAction, useRows } from '../../api/hooks.ts';
import { begunInput, useKept } from '../../kept.ts';
import { go, href } from '../../router.ts';
import { Badge, Button, Clip, Money, type Tone } from '../../ui/basics.tsx';
import { Amount, Form, Text } from '../../ui/form.tsx';
import { announce, Dialog, Page } from '../../ui/page.tsx';
import { Empty, Failed } from '../../ui/states.tsx';
import { List, Table } from '../../ui/table.tsx';
import { digitsFor, parseAmount } from '../../words/figures.ts';

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
      actions={<Button text="Open an account" class="primary" onClick={() => setOpen(true)} />}
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

function OpenForm(props: { action: ReturnType<typeof useAction<'openAccount'>>; onCancel: () => void }) {
  const { action, onCancel } = props;
  const [name, setName] = useKept('name', '');
  const [balance, setBalance] = useKept('balance', '');
  const amount = parseAmount(balance);
  const fields = action.error?.fields;
  return (
    <Form
      submit="Open the account"
      action={action}
      isDisabled={name.trim() === '' || amount === undefined}
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
        [
          'Account',
          ({ id, name }) => (
            <a href={href(`/operator/accounts/${encodeURIComponent(id)}`)}>
              <Clip text={name} />
            </a>
          ),
        ],
        ['Condition', ({ condition }) => <Condition of={condition} />],
        ['Available', ({ available }) => <Money of={available} digits={digits} />, 'number'],
        ['Credit line', ({ credit_line: line }) => <Money of={line} />, 'number wide'],
        [
          'In flight',
          ({ in_flight: count, limits }) => `${count} of ${limits.max_concurrent}`,
          'number wide',
        ],
        ['Failed attempts in a row', (account) => <FailuresInARow of={account} />, 'number wide'],
      ]}
    />
  );
}
