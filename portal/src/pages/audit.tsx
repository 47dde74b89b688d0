import type { PortalOperationName, portalOperations } from '../../../service/contract/operations.ts';
import type { ActionView } from '../../../service/contract/portal-views.ts';
import { useRows } from '../api/hooks.ts';
import { Badge, Button, Clip, Time, type Tone } from '../ui/basics.tsx';
import { Page } from '../ui/page.tsx';
import { Empty } from '../ui/states.tsx';
import { List, Table } from '../ui/table.tsx';

type Operations = typeof portalOperations;

/** The operations of which the log has rows. */
type LoggedName = {
  [Name in PortalOperationName]: Operations[Name] extends
    | { readonly method: 'GET' }
    | { readonly isLogged: false }
    ? never
    : Name;
}[PortalOperationName];

/** The action of a row. For a finished action the note after the colon names the thing. */
const words: Readonly<Record<LoggedName, string>> = {
  createKey: 'Create a key:',
  changeKey: 'Change a key',
  revokeKey: 'Revoke a key:',
  rollKey: 'Rotate a key',
  createCreation: 'Generate an image',
  cancelPortalCreation: 'Cancel a creation',
  redeliverCreation: 'Redeliver a webhook',
  revealSecret: 'Open the webhook secret',
  rotateSecret: 'Rotate the webhook secret',
  addEndpoint: 'Add an endpoint:',
  changePortalEndpoint: 'Change an endpoint:',
  removeEndpoint: 'Delete an endpoint:',
  testWebhook: 'Send a test delivery:',
  redeliverFailed: 'Redeliver all failed webhooks',
  beginPayment: 'Begin a payment:',
  setAutoTopUp: 'Change the automatic top-up:',
  resumeAutoTopUp: 'Resume the automatic top-up',
  removeCard: 'Remove the saved card that ends with:',
  setBudget: 'Change the budget of a month',
  setAlerts: 'Change the notices',
  setEmails: 'Choose e-mails:',
  invitePerson: 'Invite a person:',
  changePerson: 'Change the role of a person',
  removePerson: 'Remove a person:',
  endSessions: 'End the sessions of a person:',
  withdrawInvitation: 'Withdraw an invitation',
  openAccount: 'Open a new account',
  changeAccount: 'Change the account',
  topUpAccount: 'Top the wallet up',
  inviteToAccount: 'Invite a person to the account',
  pauseRoute: 'Pause or resume a provider',
};

/** A row of an earlier release can name an operation that is gone. */
const wordsOf = ({ action }: ActionView): string =>
  Object.hasOwn(words, action) ? words[action as LoggedName] : action;

const isNamedByNote = (row: ActionView): boolean =>
  row.outcome === 'done' && row.note !== null && wordsOf(row).endsWith(':');

const tones: Readonly<Record<ActionView['outcome'], Tone>> = { done: 'good', refused: 'bad', begun: 'warn' };
const outcomeWords: Readonly<Record<ActionView['outcome'], string>> = {
  done: 'done',
  refused: 'refused',
  begun: 'outcome unknown',
};

function Action({ of }: { of: ActionView }) {
  const text = wordsOf(of).replace(/:$/, '');
  return isNamedByNote(of) ? (
    <>
      {text} <strong>{of.note}</strong>
    </>
  ) : (
    text
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
      <List of={rows} empty={<Empty title="No changes yet" />}>
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
              [
                'Remark',
                (row) => (isNamedByNote(row) ? null : row.note) ?? <span class="dim">–</span>,
                'wide',
              ],
            ]}
          />
        )}
      </List>
    </Page>
  );
}
