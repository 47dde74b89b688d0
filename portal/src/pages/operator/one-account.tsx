import type { OperatedAccount, OperatedAccountBody } from '../../../../service/contract/portal-views.ts';
import { type Action, useAction, useResource } from '../../api/hooks.ts';
import { useKept } from '../../kept.ts';
import { href } from '../../router.ts';
import { useSession } from '../../session.tsx';
import { Button, Card, Facts, Figures, Id, Money, Time } from '../../ui/basics.tsx';
import { Form, Text, useDraft } from '../../ui/form.tsx';
import { announce, Dialog, Page } from '../../ui/page.tsx';
import { Failed, Loaded } from '../../ui/states.tsx';
import { money, parseAmount } from '../../words/figures.ts';
import { invitedWords, PersonForm } from '../parts/person-form.tsx';
import { PicturesCard, PicturesDialog } from './account-pictures.tsx';
import { AccountTab } from './account-tabs.tsx';
import { Condition, FailuresInARow } from './accounts.tsx';

/** The form for an account. Only changed fields are sent. */
type Limit = keyof OperatedAccount['limits'];
const limits: readonly { readonly name: Limit; readonly label: string }[] = [
  { name: 'post_rate', label: 'POST requests a minute' },
  { name: 'get_rate', label: 'GET requests a minute' },
  { name: 'user_post_rate', label: 'POST requests a minute of a user token' },
  { name: 'user_get_rate', label: 'GET requests a minute of a user token' },
  { name: 'max_concurrent', label: 'Creations at the same time' },
  { name: 'deadline_seconds', label: 'Time limit of a creation (s)' },
  { name: 'max_unused_uploads', label: 'Unused uploads' },
];

const isWhole = (text: string): boolean => /^\d+$/.test(text.trim());

type Values = Readonly<Record<Limit | 'name' | 'credit_line', string>>;

const wordsOf = (name: keyof Values, value: string): string =>
  name === 'credit_line' ? money(Number(value)) : value;

function LimitsForm(props: {
  of: OperatedAccount;
  action: Action<'changeAccount'>;
  onReload: () => void;
  onCancel: () => void;
}) {
  const { of, action, onReload, onCancel } = props;
  const ofLimits = Object.fromEntries(limits.map(({ name }) => [name, String(of.limits[name])]));
  const stored = { ...ofLimits, name: of.name, credit_line: String(of.credit_line) } as Values;
  const { values, changed, set, theirs, isUndecided } = useDraft(`limits ${of.id}`, stored, wordsOf);
  const fields = action.error?.fields;
  const isCreditLine = /^\d+(\.\d{1,6})?$/.test(values.credit_line.trim());
  const touched = limits.filter(({ name }) => changed[name] !== undefined);
  const body: OperatedAccountBody = {
    ...(changed.name !== undefined && { name: changed.name.trim() }),
    ...(changed.credit_line !== undefined && { credit_line: Number(changed.credit_line) }),
    ...(touched.length > 0 && {
      limits: Object.fromEntries(touched.map(({ name }) => [name, Number(values[name])])),
    }),
  };
  const isWrong =
    !isCreditLine || values.name.trim() === '' || limits.some(({ name }) => !isWhole(values[name]));
  return (
    <Form
      submit="Save"
      action={action}
      isDisabled={isWrong || isUndecided || Object.keys(body).length === 0}
      onCancel={onCancel}
      onReload={onReload}
      onSubmit={() => action.run({ id: of.id, body: { ...body, version: of.version } })}
    >
      <Text
        label="Name"
        value={values.name}
        onInput={(value) => set('name', value)}
        isRequired
        error={fields?.get('name')}
        theirs={theirs('name')}
      />
      <div class="pair">
        <Text
          label="Credit line (USD)"
          inputMode="decimal"
          value={values.credit_line}
          onInput={(value) => set('credit_line', value)}
          theirs={theirs('credit_line')}
          error={isCreditLine ? fields?.get('credit_line') : 'An amount such as 25 or 0.50.'}
        />
        {limits.map(({ name, label }) => (
          <Text
            key={name}
            label={label}
            inputMode="numeric"
            value={values[name]}
            onInput={(value) => set(name, value)}
            error={isWhole(values[name]) ? fields?.get(`limits.${name}`) : 'A whole number.'}
            theirs={theirs(name)}
          />
        ))}
      </div>
    </Form>
  );
}

type Shown = 'top-up' | 'limits' | 'pictures' | 'invite' | 'suspend' | 'activate';

/** The tabs, each with its own address. The first tab has the address of the page. */
const tabs = [
  ['', 'Limits'],
  ['creations', 'Creations'],
  ['ledger', 'Ledger'],
  ['keys', 'Keys'],
  ['people', 'People'],
  ['deliveries', 'Deliveries'],
  ['requests', 'Requests'],
] as const;
const paymentsTab = ['payments', 'Payments'] as const;

export function OneAccount({ id, tab }: { id: string; tab: string }) {
  const account = useResource('showAccount', { id });
  const { takes_payments: takesPayments } = useSession().me.service;
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
          <Button text="Invite a person" onClick={() => setShown('invite')} />
          <Button text="Change limits" onClick={() => setShown('limits')} />
          <Button text="Top up" class="primary" onClick={() => setShown('top-up')} />
        </>
      }
    >
      {error && <Failed error={error} />}
      <Loaded of={account}>
        {(data) => (
          <>
            <Figures
              rows={[
                ['Available', <Money of={data.available} />],
                ['Balance', <Money of={data.balance} />],
                ['Credit line', <Money of={data.credit_line} />],
                ['In flight', data.in_flight, `of ${data.limits.max_concurrent}`],
              ]}
            />
            <nav class="tab-links" aria-label="Parts of the account">
              {(takesPayments ? [...tabs, paymentsTab] : tabs).map(([path, name]) => (
                <a
                  key={path}
                  href={href(`/operator/accounts/${encodeURIComponent(id)}${path === '' ? '' : `/${path}`}`)}
                  {...(path === tab && { 'aria-current': 'page' as const })}
                >
                  {name}
                </a>
              ))}
            </nav>
            {tab === '' ? (
              <>
                <LimitsTab
                  data={data}
                  onCondition={() => setShown(data.condition === 'active' ? 'suspend' : 'activate')}
                />
                <PicturesCard of={data} onChange={() => setShown('pictures')} />
              </>
            ) : (
              <AccountTab id={id} tab={tab} />
            )}
            {shown === 'limits' && (
              <Dialog title="Name, credit line and limits" onClose={close}>
                <LimitsForm of={data} action={change} onReload={account.reload} onCancel={close} />
              </Dialog>
            )}
            {shown === 'pictures' && (
              <PicturesDialog of={data} action={change} onReload={account.reload} onClose={close} />
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
            action={invite}
            onCancel={close}
            onSubmit={(body) => invite.run({ id, body })}
          />
        </Dialog>
      )}
    </Page>
  );
}

function LimitsTab({ data, onCondition }: { data: OperatedAccount; onCondition: () => void }) {
  return (
    <Card
      title="Condition and limits"
      actions={
        <Button
          text={data.condition === 'active' ? 'Suspend' : 'Activate'}
          class="small"
          onClick={onCondition}
        />
      }
    >
      <Facts
        rows={[
          ['Condition', <Condition of={data.condition} />],
          ['Created', <Time at={data.created_at} />],
          ['Failed webhook attempts in a row', <FailuresInARow of={data} />],
          ...limits.map(({ name, label }) => [label, data.limits[name]] as const),
        ]}
      />
    </Card>
  );
}

function ConditionDialog(props: {
  of: OperatedAccount;
  next: 'suspended' | 'active';
  action: ReturnType<typeof useAction<'changeAccount'>>;
  onReload: () => void;
  onClose: () => void;
}) {
  const { of, next, action, onReload, onClose } = props;
  const isSuspension = next === 'suspended';
  return (
    <Dialog title={isSuspension ? `Suspend ${of.name}` : `Activate ${of.name}`} onClose={onClose}>
      <Form
        submit={isSuspension ? 'Suspend the account' : 'Activate the account'}
        isDangerous={isSuspension}
        isDisabled={of.condition === next}
        action={action}
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

function TopUpForm(props: {
  id: string;
  action: ReturnType<typeof useAction<'topUpAccount'>>;
  onCancel: () => void;
}) {
  const { id, action, onCancel } = props;
  const [amountText, setAmount] = useKept('top-up amount', '');
  const [reference, setReference] = useKept('top-up reference', '');
  const amount = parseAmount(amountText);
  const fields = action.error?.fields;
  return (
    <Form
      submit="Top up"
      action={action}
      isDisabled={typeof amount !== 'number' || amount === 0 || reference.trim() === ''}
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
