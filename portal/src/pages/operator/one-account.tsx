import { useAction, useResource } from '../../api/hooks.ts';
import type { OperatedAccount } from '../../../../service/contract/portal-views.ts';
import { useKept } from '../../kept.ts';
import { href } from '../../router.ts';
import { announce } from '../../ui/announce.tsx';
import { Card, Fact, Facts, Figure, Id, Money, Time } from '../../ui/basics.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Form, Text } from '../../ui/form.tsx';
import { Page } from '../../ui/page.tsx';
import { Failed, Loaded } from '../../ui/states.tsx';
import { invitedWords } from '../../words/invited.ts';
import { parseAmount } from '../../words/money.ts';
import { PersonForm } from '../parts/person-form.tsx';
import { Condition, FailuresInARow } from './accounts.tsx';
import { LimitsForm } from './limits-form.tsx';

type Shown = 'top-up' | 'limits' | 'invite' | 'suspend' | 'activate';

export function OneAccount({ id }: { id: string }) {
  const account = useResource('showAccount', { id });
  const [shown, setShown] = useKept<Shown | undefined>('account', undefined);
  const close = (): void => {
    setShown(undefined);
    for (const action of [topUp, change, invite]) action.clear();
  };
  const done = (text: string): void => {
    close();
    account.reload();
    announce(text);
  };
  const topUp = useAction('topUpAccount', () => done('The wallet is topped up.'));
  const change = useAction('changeAccount', () => done('The account is changed.'));
  const invite = useAction('inviteToAccount', (invited) => done(invitedWords(invited)));
  const error = shown ? undefined : (topUp.error ?? change.error ?? invite.error);
  return (
    <Page
      title={account.data?.name ?? 'Account'}
      above={<a href={href('/operator/accounts')}>Accounts</a>}
      lead={<Id of={id} label="the id of the account" />}
      actions={
        <>
          <button type="button" onClick={() => setShown('invite')}>
            Invite a person
          </button>
          <button type="button" onClick={() => setShown('limits')}>
            Limits
          </button>
          <button type="button" class="primary" onClick={() => setShown('top-up')}>
            Top up
          </button>
        </>
      }
    >
      {error && <Failed error={error} />}
      <Loaded of={account}>
        {(data) => (
          <>
            <Content
              data={data}
              onCondition={() => setShown(data.condition === 'active' ? 'suspend' : 'activate')}
            />
            {shown === 'limits' && (
              <Dialog title="Name, credit line and limits" onClose={close}>
                <LimitsForm of={data} action={change} onReload={account.reload} onCancel={close} />
              </Dialog>
            )}
            {(shown === 'suspend' || shown === 'activate') && (
              <ConditionDialog
                of={data}
                next={shown === 'suspend' ? 'suspended' : 'active'}
                action={change}
                onReload={account.reload}
                onClose={close}
              />
            )}
          </>
        )}
      </Loaded>
      {shown === 'top-up' && (
        <Dialog title="Top up" onClose={close}>
          <TopUpForm id={id} action={topUp} onCancel={close} />
        </Dialog>
      )}
      {shown === 'invite' && (
        <Dialog title="Invite a person" onClose={close}>
          <PersonForm
            start={{ role: 'owner' }}
            submit="Invite"
            isBusy={invite.isBusy}
            error={invite.error}
            onCancel={close}
            onSubmit={(body) => invite.run({ id, body })}
          />
        </Dialog>
      )}
    </Page>
  );
}

function Content({ data, onCondition }: { data: OperatedAccount; onCondition: () => void }) {
  return (
    <>
      <dl class="figures">
        <Figure name="Available">
          <Money of={data.available} />
        </Figure>
        <Figure name="Balance">
          <Money of={data.balance} />
        </Figure>
        <Figure name="Credit line">
          <Money of={data.credit_line} />
        </Figure>
        <Figure name="In flight" note={`of ${data.limits.max_concurrent}`}>
          {data.in_flight}
        </Figure>
      </dl>
      <Card
        title="Condition"
        actions={
          <button type="button" class="small" onClick={onCondition}>
            {data.condition === 'active' ? 'Suspend' : 'Activate'}
          </button>
        }
      >
        <Facts>
          <Fact name="Condition">
            <Condition of={data.condition} />
          </Fact>
          <Fact name="Created">
            <Time at={data.created_at} />
          </Fact>
          <Fact name="Failed webhook attempts in a row">
            <FailuresInARow of={data} />
          </Fact>
          <Fact name="Requests a minute">
            {data.limits.post_rate} POST, {data.limits.get_rate} GET
          </Fact>
          <Fact name="Time limit of a creation">{data.limits.deadline_seconds} s</Fact>
        </Facts>
      </Card>
    </>
  );
}

function ConditionDialog({
  of,
  next,
  action,
  onReload,
  onClose,
}: {
  of: OperatedAccount;
  next: 'suspended' | 'active';
  action: ReturnType<typeof useAction<'changeAccount'>>;
  onReload: () => void;
  onClose: () => void;
}) {
  const isSuspension = next === 'suspended';
  return (
    <Dialog title={isSuspension ? `Suspend ${of.name}` : `Activate ${of.name}`} onClose={onClose}>
      <Form
        submit={isSuspension ? 'Suspend the account' : 'Activate the account'}
        isDangerous={isSuspension}
        isDisabled={of.condition === next}
        isBusy={action.isBusy}
        error={action.error}
        onReload={onReload}
        onCancel={onClose}
        onSubmit={() => action.run({ id: of.id, body: { condition: next, version: of.version } })}
      >
        <p>
          {isSuspension
            ? 'Every request to the API is refused with 403 from the next one on. The account keeps its portal.'
            : 'The API takes requests of this account again.'}
        </p>
        <p>
          The account is now <Condition of={of.condition} />
        </p>
      </Form>
    </Dialog>
  );
}

function TopUpForm({
  id,
  action,
  onCancel,
}: {
  id: string;
  action: ReturnType<typeof useAction<'topUpAccount'>>;
  onCancel: () => void;
}) {
  const [amountText, setAmount] = useKept('top-up amount', '');
  const [reference, setReference] = useKept('top-up reference', '');
  const amount = parseAmount(amountText);
  const fields = action.error?.fields;
  return (
    <Form
      submit="Top up"
      isBusy={action.isBusy}
      isDisabled={typeof amount !== 'number' || amount === 0 || reference.trim() === ''}
      error={action.error}
      onCancel={onCancel}
      onSubmit={() => {
        if (typeof amount === 'number') action.run({ id, body: { amount, reference: reference.trim() } });
      }}
    >
      <Text
        label="Amount (USD)"
        inputMode="decimal"
        value={amountText}
        onInput={setAmount}
        isRequired
        autoFocus
        error={amount === undefined ? 'An amount such as 25 or 0.50.' : fields?.get('amount')}
      />
      <Text
        label="Reference"
        hint="Such as the number of the invoice. A reference counts once, so a second press changes nothing."
        value={reference}
        onInput={setReference}
        isRequired
        error={fields?.get('reference')}
      />
    </Form>
  );
}
