/** The lists of an account. Each tab reads only its own list, when it is opened. */
import type { KeyView, PeopleView } from '../../../../service/contract/portal-views.ts';
import { Refusal } from '../../api/call.ts';
import { useResource, useRows } from '../../api/hooks.ts';
import { Badge, Card, Clip, Money, Time } from '../../ui/basics.tsx';
import { Empty, Failed, Loaded, Loading } from '../../ui/states.tsx';
import { List, Table } from '../../ui/table.tsx';
import { DeliveryTable } from '../delivery.tsx';
import { CreationTable } from '../parts/creation-table.tsx';
import { KeyCaps, KeyState, LastUse } from '../parts/key-words.tsx';
import { RequestList } from '../parts/request-list.tsx';
import { LedgerTable, paymentFile } from '../wallet.tsx';

const creationsAt = '/operator/creations';

export function AccountTab({ id, tab }: { id: string; tab: string }) {
  switch (tab) {
    case 'creations':
      return <Creations id={id} />;
    case 'ledger':
      return <Ledger id={id} />;
    case 'keys':
      return <Keys id={id} />;
    case 'people':
      return <People id={id} />;
    case 'deliveries':
      return <Deliveries id={id} />;
    case 'requests':
      return <Requests id={id} />;
    case 'payments':
      return <Payments id={id} />;
    default:
      return <Empty title="There is no such tab" />;
  }
}

function Creations({ id }: { id: string }) {
  const rows = useRows('listAccountCreations', {}, id);
  return (
    <List of={rows} empty={<Empty title="No creation yet" />}>
      {(data) => <CreationTable caption="Creations, the newest first" rows={data} at={creationsAt} />}
    </List>
  );
}

function Ledger({ id }: { id: string }) {
  const rows = useRows('listAccountLedger', {}, id);
  return (
    <List of={rows} empty={<Empty title="No movement yet" />}>
      {(data) => <LedgerTable rows={data} at={creationsAt} />}
    </List>
  );
}

function Deliveries({ id }: { id: string }) {
  const rows = useRows('listAccountDeliveries', {}, id);
  return (
    <List of={rows} empty={<Empty title="No delivery in the last 30 days" />}>
      {(data) => <DeliveryTable caption="Deliveries, the newest first" rows={data} isOperated />}
    </List>
  );
}

function Requests({ id }: { id: string }) {
  const rows = useRows('listAccountRequests', {}, id);
  return (
    <RequestList rows={rows} empty={<Empty title="No request in seven days" />} creationsAt={creationsAt} />
  );
}

function Payments({ id }: { id: string }) {
  const rows = useRows('listAccountPayments', {}, id);
  const file = paymentFile.useFile();
  if (file === undefined) return <Loading />;
  if (file instanceof Refusal) return <Failed error={file} onRetry={() => location.reload()} />;
  return (
    <>
      {rows.first?.test_mode === true && <p class="notice warn">Test mode: no money is real.</p>}
      {rows.first?.is_closed === true && (
        <p class="notice bad">
          Payments of this account are closed, until you allow them again:{' '}
          <code>npm run admin -- payments clear {id}</code>
        </p>
      )}
      <List of={rows} empty={<Empty title="No payment yet" />}>
        {(data) => <file.PaymentTable rows={data} isOperated />}
      </List>
    </>
  );
}

function Keys({ id }: { id: string }) {
  const keys = useResource('listAccountKeys', { id });
  return (
    <Loaded of={keys}>
      {({ data }) => (data.length === 0 ? <Empty title="No key yet" /> : <KeyTable rows={data} />)}
    </Loaded>
  );
}

function KeyTable({ rows }: { rows: readonly KeyView[] }) {
  return (
    <Table
      caption="Keys of the account"
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        [
          'Key',
          ({ name, prefix, last4 }) => (
            <>
              <strong>
                <Clip text={name} />
              </strong>
              <br />
              <code class="dim">
                {prefix}
                {last4 !== null && `…${last4}`}
              </code>
            </>
          ),
        ],
        ['State', (key) => <KeyState of={key} />],
        ['Spent', (key) => <KeyCaps of={key} />, 'wide'],
        ['Models', ({ models }) => models?.join(', ') ?? <span class="dim">all</span>, 'wide'],
        ['Last used', ({ last_used_at: used }) => <LastUse at={used} />],
      ]}
    />
  );
}

function People({ id }: { id: string }) {
  const people = useResource('listAccountPeople', { id });
  return (
    <Loaded of={people}>
      {({ people: members, invitations }) => (
        <>
          {members.length === 0 ? (
            <Empty title="The account has no members" />
          ) : (
            <MemberTable rows={members} />
          )}
          {invitations.length > 0 && (
            <Card title="Open invitations">
              <Table
                caption="Open invitations"
                rows={invitations}
                keyOf={({ id: invitation }) => invitation}
                columns={[
                  ['Address', ({ email }) => <Clip text={email} />],
                  ['Role', ({ role }) => <Badge tone="calm">{role}</Badge>],
                  ['Ends', ({ expires_at: at }) => <Time at={at} form="relative" />],
                ]}
              />
            </Card>
          )}
        </>
      )}
    </Loaded>
  );
}

function MemberTable({ rows }: { rows: PeopleView['people'] }) {
  return (
    <Table
      caption="People of the account"
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        ['Person', ({ email }) => <Clip text={email} />],
        ['Role', ({ role }) => <Badge tone="calm">{role}</Badge>],
        [
          'Keys may have',
          ({ key_cap: cap }) => (cap === null ? <span class="dim">any cap</span> : <Money of={cap} />),
          'wide',
        ],
        [
          'Last sign-in',
          ({ last_sign_in_at: at }) =>
            at === null ? <span class="dim">never</span> : <Time at={at} form="relative" />,
        ],
      ]}
    />
  );
}
