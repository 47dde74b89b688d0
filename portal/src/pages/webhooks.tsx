import { useEffect, useState } from 'preact/hooks';
import type {
  DeliveryDetail,
  EndpointsView,
  RotateBody,
  SecretView,
  WebhooksView,
} from '../../../service/contract/portal-views.ts';
import { useAction, useResource } from '../api/hooks.ts';
import { useKept } from '../kept.ts';
import { href } from '../router.ts';
import { useMay, useSession } from '../session.tsx';
import { Badge, Button, Card, Code, Copy, Time, type Tone } from '../ui/basics.tsx';
import { Form, type FormAction, Select, Text } from '../ui/form.tsx';
import { Dialog, Page, Tabs } from '../ui/page.tsx';
import { Empty, Failed, Loaded } from '../ui/states.tsx';
import { Table } from '../ui/table.tsx';
import { receiverSnippets } from '../words/snippets.ts';
import { Body, DeliveryParts, DeliveryState } from './delivery.tsx';
import { Endpoints } from './parts/endpoints.tsx';
import { Notices } from './parts/notices.tsx';

/** One signed delivery to any address, one in 30 seconds. */
const pauseSeconds = 30;

function Samples(props: { data: WebhooksView; endpoints: EndpointsView | undefined; onSent: () => void }) {
  const { data, endpoints, onSent } = props;
  const { me } = useSession();
  const maySend = useMay('testWebhook');
  const [event, setEvent] = useKept('event', 'creation.completed');
  const [endpoint, setEndpoint] = useKept('to', '');
  const [url, setUrl] = useKept('receiver', me.service.inbox_url ?? '');
  const [sent, setSent] = useState<DeliveryDetail>();
  const [until, setUntil] = useState(0);
  const send = useAction('testWebhook', ({ delivery }) => {
    setSent(delivery);
    setUntil(Date.now() + pauseSeconds * 1000);
    onSent();
  });
  const seconds = useSecondsUntil(until);
  const { error } = send;
  // The page shows first what it read last, perhaps minutes ago.
  useEffect(() => setUntil(Date.now() + data.test_after_seconds * 1000), [data]);
  useEffect(() => {
    if (error?.retryAfter !== undefined && error.retryAfter !== null)
      setUntil(Date.now() + error.retryAfter * 1000);
  }, [error]);
  const hasSecret = data.secrets.length > 0;
  const samples = endpoints?.samples ?? {};
  return (
    <Card title="Samples">
      <Select
        label="Event"
        value={event}
        options={Object.keys(samples).map((name) => ({ value: name, label: name }))}
        onChange={setEvent}
      />
      <Body text={samples[event] ?? ''} />
      {maySend && (
        <Form
          submit={seconds > 0 ? `Next test in ${seconds} s` : 'Send a test delivery'}
          isDisabled={!hasSecret || seconds > 0 || (endpoint === '' && url.trim() === '')}
          action={send}
          onSubmit={() =>
            send.run({ body: { ...(endpoint === '' ? { url: url.trim() } : { endpoint }), event } })
          }
        >
          <Select
            label="Send it to"
            value={endpoint}
            options={[
              { value: '', label: 'an address' },
              ...(endpoints?.data.map(({ id, url: label }) => ({ value: id, label })) ?? []),
            ]}
            onChange={setEndpoint}
            hint={hasSecret ? 'It is signed like each webhook.' : 'Open the signing secret first.'}
            error={error?.fields.get('endpoint')}
          />
          {endpoint === '' && (
            <Text
              label="Address of your receiver"
              type="url"
              inputMode="url"
              value={url}
              onInput={setUrl}
              placeholder="https://example.com/hooks"
              isRequired
              error={error?.fields.get('url')}
            />
          )}
        </Form>
      )}
      <div aria-live="polite">
        {sent && (
          <div class="tested">
            <p>
              <DeliveryState of={sent} /> {sent.reason}
            </p>
            <DeliveryParts of={sent} />
          </div>
        )}
      </div>
    </Card>
  );
}

/** Whole seconds until a moment. It counts each second, and stops at 0. */
function useSecondsUntil(untilMillis: number): number {
  const left = (): number => Math.max(0, Math.ceil((untilMillis - Date.now()) / 1000));
  const [seconds, setSeconds] = useState(left);
  useEffect(() => {
    setSeconds(left());
    const timer = setInterval(() => {
      setSeconds(left());
      if (left() === 0) clearInterval(timer);
    }, 250);
    return () => clearInterval(timer);
  }, [untilMillis]);
  return seconds;
}

export function Webhooks() {
  const webhooks = useResource('getWebhooks');
  const endpoints = useResource('listPortalEndpoints');
  return (
    <Page
      title="Webhooks"
      lead={
        <>
          A request can name the address of its webhook (<code>webhook_url</code>). Otherwise your endpoints
          get it. What was sent is on <a href={href('/deliveries')}>deliveries</a>.
        </>
      }
    >
      <Loaded of={webhooks}>
        {(data) => (
          <>
            <Secrets data={data} onChange={webhooks.reload} />
            <Endpoints of={endpoints} />
            <Samples data={data} endpoints={endpoints.data} onSent={webhooks.reload} />
            <Card title="Verify what you receive">
              <p>Put the secret into the environment of your receiver as DARKROOM_WEBHOOK_SECRET.</p>
              <Tabs
                label="Language"
                tabs={receiverSnippets(location.origin).map(({ name, text }) => ({
                  name,
                  content: <Code text={text} label={`the receiver in ${name}`} />,
                }))}
              />
            </Card>
            <Notices />
          </>
        )}
      </Loaded>
    </Page>
  );
}

type Secret = WebhooksView['secrets'][number];
const states: Readonly<Record<Secret['state'], { tone: Tone; words: string }>> = {
  signs: { tone: 'good', words: 'signs' },
  signs_later: { tone: 'busy', words: 'signs later' },
  replaced: { tone: 'calm', words: 'replaced' },
};

function Secrets({ data, onChange }: { data: WebhooksView; onChange: () => void }) {
  const mayManage = useMay('rotateSecret');
  const [shown, setShown] = useState<SecretView>();
  const [isRotating, setRotating] = useState(false);
  const show = (answer: SecretView): void => {
    setShown(answer);
    setRotating(false);
    onChange();
  };
  const reveal = useAction('revealSecret', show);
  const rotate = useAction('rotateSecret', show);
  const hasSecret = data.secrets.length > 0;
  const revealButton = mayManage && (
    <Button
      text={hasSecret ? 'Show the secret' : 'Open the signing secret'}
      class={hasSecret ? 'small' : 'primary'}
      isBusy={reveal.isBusy}
      onClick={() => reveal.run({})}
    />
  );
  return (
    <Card
      title="Signing secret"
      actions={
        hasSecret &&
        mayManage && (
          <>
            {revealButton}
            <Button text="Rotate" class="small" onClick={() => setRotating(true)} />
          </>
        )
      }
    >
      {reveal.error && <Failed error={reveal.error} />}
      {rotate.error && !isRotating && (
        <Failed
          error={rotate.error}
          onRetry={() => {
            rotate.clear();
            onChange();
          }}
        />
      )}
      {!hasSecret && (
        <Empty title="No secret yet, so no webhook is sent">
          <p>
            {mayManage
              ? 'The secret is created when it is first opened.'
              : 'A developer or an owner opens the secret.'}
          </p>
          {revealButton}
        </Empty>
      )}
      {hasSecret && (
        <Table
          caption="Signing secrets"
          rows={data.secrets}
          keyOf={({ issued_at: at }) => at}
          columns={[
            ['Secret', () => <code>whsec_••••••••••••</code>],
            ['State', ({ state }) => <Badge tone={states[state].tone}>{states[state].words}</Badge>],
            ['Issued', ({ issued_at: at }) => <Time at={at} />, 'wide'],
            ['Signs from', ({ signs_from: at }) => <Time at={at} />],
            [
              'Valid until',
              ({ valid_until: at }) =>
                at === null ? <span class="dim">it is replaced</span> : <Time at={at} />,
            ],
          ]}
        />
      )}
      {hasSecret && (
        <p class="dim">
          A replaced secret stays valid for 24 hours. In this time each webhook has a signature of both, so a
          receiver with either of them accepts it.
        </p>
      )}
      {isRotating && (
        <RotateDialog
          action={rotate}
          onReload={() => {
            rotate.clear();
            onChange();
          }}
          onClose={() => {
            rotate.clear();
            setRotating(false);
          }}
          onRotate={(signFrom) => rotate.run({ body: { sign_from: signFrom } })}
        />
      )}
      {shown && (
        <Dialog title="Signing secret" onClose={() => setShown(undefined)}>
          <div class="secret">
            <code>{shown.secret}</code>
            <Copy text={shown.secret} label="the secret" />
          </div>
          <p>
            Issued <Time at={shown.issued_at} />. It signs from <Time at={shown.signs_from} />
            {shown.signing_until_then !== undefined && ', and the secret before it signs until then'}.
          </p>
          <div class="buttons">
            <Button text="Done" class="primary" onClick={() => setShown(undefined)} />
          </div>
        </Dialog>
      )}
    </Card>
  );
}

type SignFrom = RotateBody['sign_from'];
const moments: readonly { value: SignFrom; label: string }[] = [
  { value: 'now', label: 'now' },
  { value: '1h', label: 'in one hour' },
  { value: '24h', label: 'in 24 hours' },
];

function RotateDialog(props: {
  action: FormAction;
  onReload: () => void;
  onClose: () => void;
  onRotate: (signFrom: SignFrom) => void;
}) {
  const { action, onReload, onClose, onRotate } = props;
  const [moment, setMoment] = useState<SignFrom>('now');
  return (
    <Dialog title="Rotate the secret" onClose={onClose}>
      <Form
        submit="Rotate the secret"
        action={action}
        onReload={onReload}
        onCancel={onClose}
        onSubmit={() => onRotate(moment)}
      >
        <p>The service makes a new secret and shows it. Put it into your receivers.</p>
        <Select
          label="The new secret signs from"
          value={moment}
          options={moments}
          hint="The old secret stays valid for 24 hours after this moment."
          onChange={(value) => setMoment(moments.find((one) => one.value === value)?.value ?? 'now')}
        />
      </Form>
    </Dialog>
  );
}
