import type { Role } from '../../../service/contract/operations.ts';
import type { PeopleView } from '../../../service/contract/portal-views.ts';
import { useAction, useResource } from '../api/hooks.ts';
import { begunInput, useKept } from '../kept.ts';
import { Badge, Button, Card, Clip, Money, Time, type Tone } from '../ui/basics.tsx';
import { Form } from '../ui/form.tsx';
import { announce, Dialog, Page } from '../ui/page.tsx';
import { Empty, Failed, Loaded } from '../ui/states.tsx';
import { Table } from '../ui/table.tsx';
import { invitedWords, PersonForm, type PersonStart } from './parts/person-form.tsx';

type Person = PeopleView['people'][number];
type Shown =
  | { readonly kind: 'invite'; readonly start?: PersonStart }
  | { readonly kind: 'change' | 'remove'; readonly id: string };

export function People() {
  const people = useResource('listPeople');
  const [shown, setShown] = useKept<Shown | undefined>('people', () => {
    const begun = begunInput('invitePerson');
    return begun?.body && { kind: 'invite', start: begun.body };
  });
  const close = (): void => {
    setShown(undefined);
    for (const action of [invite, change, remove]) action.clear();
  };
  const done = (text: string): void => {
    close();
    people.reload();
    announce(text);
  };
  const invite = useAction('invitePerson', (invited) => done(invitedWords(invited)));
  const change = useAction('changePerson', () => done('The change applies from the next request on.'));
  const remove = useAction('removePerson', () => done('The person is removed. Their sessions have ended.'));
  const end = useAction('endSessions', () => done('All sessions of the person have ended.'));
  const withdraw = useAction('withdrawInvitation', () => done('The invitation is withdrawn.'));
  const chosen = shown && 'id' in shown ? people.data?.people.find(({ id }) => id === shown.id) : undefined;
  const outside = shown ? [] : [invite.error, change.error, remove.error];
  const error = [...outside, end.error, withdraw.error].find((one) => one !== undefined);
  return (
    <Page
      title="People"
      lead="An owner may do everything. A developer has keys, webhooks and the playground. A viewer reads. Finance sees only money."
      actions={<Button text="Invite a person" class="primary" onClick={() => setShown({ kind: 'invite' })} />}
    >
      {error && <Failed error={error} />}
      <Loaded of={people}>
        {(data) => (
          <>
            <PeopleTable people={data.people} onOpen={setShown} onEndSessions={(id) => end.run({ id })} />
            <Card title="Open invitations">
              <Invitations of={data.invitations} onWithdraw={(id) => withdraw.run({ id })} />
            </Card>
          </>
        )}
      </Loaded>
      {shown?.kind === 'invite' && (
        <Dialog title="Invite a person" onClose={close}>
          <PersonForm
            start={shown.start}
            submit="Invite"
            action={invite}
            onCancel={close}
            onSubmit={(body) => invite.run({ body })}
          />
        </Dialog>
      )}
      {chosen && shown?.kind === 'change' && (
        <Dialog title={`Change ${chosen.email}`} onClose={close}>
          <PersonForm
            changed={chosen}
            submit="Save"
            action={change}
            onReload={people.reload}
            onCancel={close}
            onSubmit={(body) => change.run({ id: chosen.id, body: { ...body, version: chosen.version } })}
          />
        </Dialog>
      )}
      {chosen && shown?.kind === 'remove' && (
        <Dialog title={`Remove ${chosen.email}`} onClose={close}>
          <Form
            submit="Remove the person"
            isDangerous
            action={remove}
            onCancel={close}
            onSubmit={() => remove.run({ id: chosen.id })}
          >
            <p>
              The sessions of this person end at once. Keys that the person created stay valid: check them,
              too.
            </p>
          </Form>
        </Dialog>
      )}
    </Page>
  );
}

const roleTone = (role: Role): Tone => (role === 'owner' ? 'good' : 'calm');

function PeopleTable(props: {
  people: readonly Person[];
  onOpen: (shown: Shown) => void;
  onEndSessions: (id: string) => void;
}) {
  const { people, onOpen, onEndSessions } = props;
  return (
    <Table
      caption="People of the account"
      stacks
      rows={people}
      keyOf={({ id }) => id}
      columns={[
        [
          'Person',
          ({ email, is_you: isYou }) => (
            <>
              <Clip text={email} /> {isYou && <span class="dim">(you)</span>}
            </>
          ),
        ],
        ['Role', ({ role }) => <Badge tone={roleTone(role)}>{role}</Badge>],
        [
          'Keys may have',
          ({ key_cap: cap }) =>
            cap === null ? (
              <span class="dim">any cap</span>
            ) : (
              <>
                <Money of={cap} /> a month
              </>
            ),
          'wide',
        ],
        [
          'Last sign-in',
          ({ last_sign_in_at: at }) =>
            at === null ? <span class="dim">never</span> : <Time at={at} form="relative" />,
          'wide',
        ],
        ['Since', ({ since }) => <Time at={since} />, 'wide'],
        [
          'Actions',
          ({ id, email }) => (
            <div class="row-actions">
              <Button
                text="Change"
                class="small"
                aria-label={`Change ${email}`}
                onClick={() => onOpen({ kind: 'change', id })}
              />
              <Button
                text="End sessions"
                class="small"
                aria-label={`End sessions of ${email}`}
                onClick={() => onEndSessions(id)}
              />
              <Button
                text="Remove"
                class="small danger-quiet"
                aria-label={`Remove ${email}`}
                onClick={() => onOpen({ kind: 'remove', id })}
              />
            </div>
          ),
          'actions',
        ],
      ]}
    />
  );
}

function Invitations(props: { of: PeopleView['invitations']; onWithdraw: (id: string) => void }) {
  const { of, onWithdraw } = props;
  if (of.length === 0) return <Empty title="No open invitation" />;
  return (
    <Table
      caption="Open invitations"
      stacks
      rows={of}
      keyOf={({ id }) => id}
      columns={[
        ['Address', ({ email }) => <Clip text={email} />],
        ['Role', ({ role }) => <Badge tone={roleTone(role)}>{role}</Badge>],
        ['Invited by', ({ invited_by: by }) => <Clip text={by} />, 'wide'],
        ['Ends', ({ expires_at: at }) => <Time at={at} form="relative" />],
        [
          'Actions',
          ({ id, email }) => (
            <Button
              text="Withdraw"
              class="small"
              aria-label={`Withdraw the invitation of ${email}`}
              onClick={() => onWithdraw(id)}
            />
          ),
          'actions',
        ],
      ]}
    />
  );
}
