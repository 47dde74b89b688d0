import type { PortalOperationName, portalOperations } from '../../../service/contract/operations.ts';
import type { ActionView } from '../../../service/contract/portal-views.ts';
import { useRows } from '../api/hooks.ts';
import { Badge, Button, Clip, Time, type Tone } from '../ui/basics.tsx';
import { Page } from '../ui/page.tsx';
import { Empty } from '../ui/states.tsx';
import { List, Table } from '../ui/table.tsx';

/** What a person did, in words, for each operation that the log of actions names. */
type Operations = typeof portalOperations;

/** The operations of which the log has rows. */
type LoggedName = {
  [Name in PortalOperationName]: Operations[Name] extends
    | { readonly method: 'GET' }
    | { readonly isLogged: false }
    ? never
    : Name;
}[PortalOperationName];

interface Words {
  /** It is done: "created the key". */
  readonly did: string;
  /** It was refused, or its outcome is unknown: "create a key". */
  readonly toDo: string;
  /** True: the note of a row that is done is the name of the thing. */
  readonly isNamedByNote?: true;
}

const words: Readonly<Record<LoggedName, Words>> = {
  createKey: { did: 'created the key', toDo: 'create a key', isNamedByNote: true },
  changeKey: { did: 'changed a key', toDo: 'change a key' },
  revokeKey: { did: 'revoked the key', toDo: 'revoke a key', isNamedByNote: true },
  rollKey: { did: 'rolled a key', toDo: 'roll a key' },
  createCreation: { did: 'generated an image', toDo: 'generate an image' },
  cancelPortalCreation: { did: 'cancelled a creation', toDo: 'cancel a creation' },
  redeliverCreation: { did: 'redelivered a webhook', toDo: 'redeliver a webhook' },
  revealSecret: { did: 'opened the webhook secret', toDo: 'open the webhook secret' },
  rotateSecret: { did: 'rotated the webhook secret', toDo: 'rotate the webhook secret' },
  changePortalEndpoint: { did: 'changed the endpoint', toDo: 'change an endpoint', isNamedByNote: true },
  testWebhook: { did: 'sent a test delivery to', toDo: 'send a test delivery', isNamedByNote: true },
  redeliverFailed: { did: 'redelivered all failed webhooks', toDo: 'redeliver all failed webhooks' },
  setBudget: { did: 'changed the budget of a month', toDo: 'change the budget of a month' },
  setAlerts: { did: 'changed the notices', toDo: 'change the notices' },
  invitePerson: { did: 'invited', toDo: 'invite a person', isNamedByNote: true },
  changePerson: { did: 'changed the role of a person', toDo: 'change the role of a person' },
  removePerson: { did: 'removed', toDo: 'remove a person', isNamedByNote: true },
  endSessions: { did: 'ended the sessions of', toDo: 'end the sessions of a person', isNamedByNote: true },
  withdrawInvitation: { did: 'withdrew an invitation', toDo: 'withdraw an invitation' },
  openAccount: { did: 'opened the account', toDo: 'open an account' },
  changeAccount: { did: 'changed the account', toDo: 'change the account' },
  topUpAccount: { did: 'topped the wallet up', toDo: 'top the wallet up' },
  inviteToAccount: { did: 'invited a person to the account', toDo: 'invite a person to the account' },
  pauseRoute: { did: 'paused or resumed a provider', toDo: 'pause or resume a provider' },
};

export interface ActionText {
  readonly text: string;
  /** What it was done to, as the person knows it. */
  readonly name: string | null;
  /** What else the row says. */
  readonly remark: string | null;
}

function actionText({ action, outcome, note }: Omit<ActionView, 'id' | 'at'>): ActionText {
  // A row of an earlier release can name an operation that is gone.
  const { did, toDo, isNamedByNote }: Words = Object.hasOwn(words, action)
    ? words[action as LoggedName]
    : { did: action, toDo: action };
  if (outcome !== 'done')
    return { text: `${outcome === 'refused' ? 'tried' : 'began'} to ${toDo}`, name: null, remark: note };
  return isNamedByNote === true && note !== null
    ? { text: did, name: note, remark: null }
    : { text: did, name: null, remark: note };
}

const tones: Readonly<Record<ActionView['outcome'], Tone>> = { done: 'good', refused: 'bad', begun: 'warn' };
const outcomeWords: Readonly<Record<ActionView['outcome'], string>> = {
  done: 'done',
  refused: 'refused',
  begun: 'outcome unknown',
};

function Action({ of }: { of: ActionView }) {
  const { text, name } = actionText(of);
  return (
    <>
      {text}
      {name !== null && (
        <>
          {' '}
          <strong>{name}</strong>
        </>
      )}
    </>
  );
}

export function Audit() {
  const rows = useRows('listActions');
  return (
    <Page
      title="Audit"
      lead="What people did in this portal, kept for 400 days."
      actions={<Button text="Refresh" onClick={rows.reload} isBusy={rows.isLoading} />}
    >
      <List of={rows} empty={<Empty title="Nobody has changed anything yet" />}>
        {(data) => (
          <Table
            caption="Actions, the newest first"
            rows={data}
            stacks
            keyOf={({ id }) => id}
            columns={[
              ['Time', ({ at }) => <Time at={at} form="full" />],
              ['Person', ({ email }) => <Clip text={email} />],
              ['Action', (row) => <Action of={row} />, 'sentence'],
              ['Outcome', ({ outcome }) => <Badge tone={tones[outcome]}>{outcomeWords[outcome]}</Badge>],
              [
                'Of',
                ({ target }) =>
                  target === null ? <span class="dim">–</span> : <code class="clip">{target}</code>,
                'wide',
              ],
              ['Remark', (row) => actionText(row).remark ?? <span class="dim">–</span>, 'wide'],
            ]}
          />
        )}
      </List>
    </Page>
  );
}
