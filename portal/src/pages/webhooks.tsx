import { useState } from 'preact/hooks';
import { useAction, useResource } from '../api/hooks.ts';
import type { RotateBody, SecretView, WebhooksView } from '../../../service/contract/portal-views.ts';
import { href } from '../router.ts';
import { useMay } from '../session.ts';
import { Badge, Card, Code, Copy, Fact, Facts, Time, type Tone } from '../ui/basics.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Form, Select } from '../ui/form.tsx';
import { Page } from '../ui/page.tsx';
import { Empty, Failed, Loaded } from '../ui/states.tsx';
import { Table } from '../ui/table.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { receiverSnippets } from '../words/snippets.ts';
import { Notices } from './parts/notices.tsx';
import { TestDelivery } from './parts/test-delivery.tsx';

export function Webhooks() {
  const webhooks = useResource('getWebhooks');
  return (
    <Page
      title="Webhooks"
      lead={
        <>
          A request names where its webhook goes (<code>webhook_url</code>). What was sent is on{' '}
          <a href={href('/deliveries')}>deliveries</a>.
        </>
      }
    >
      <Loaded of={webhooks}>
        {(data) => (
          <>
            <Secrets data={data} onChange={webhooks.reload} />
            <TestDelivery data={data} onSent={webhooks.reload} />
            <Card title="Verify what you receive">
              <p>Put the secret into the environment of your receiver as DARKROOM_WEBHOOK_SECRET.</p>
              <Tabs
                label="Language"
                tabs={receiverSnippets.map(({ name, text }) => ({
                  name,
                  content: <Code text={text} label={`the receiver in ${name}`} />,
                }))}
              />
              <Facts>
                <Fact name="Events">
                  <Names of={data.events} />
                </Fact>
                <Fact name="Notices">
                  <Names of={data.notices} />
                </Fact>
              </Facts>
            </Card>
          </>
        )}
      </Loaded>
      <Notices />
    </Page>
  );
}

function Names({ of }: { of: readonly string[] }) {
  return (
    <span class="names">
      {of.map((name) => (
        <code key={name}>{name}</code>
      ))}
    </span>
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
    <button
      type="button"
      class={hasSecret ? 'small' : 'primary'}
      aria-busy={reveal.isBusy}
      onClick={() => reveal.run({})}
    >
      {hasSecret ? 'Show the secret' : 'Open the signing secret'}
    </button>
  );
  return (
    <Card
      title="Signing secret"
      actions={
        hasSecret &&
        mayManage && (
          <>
            {revealButton}
            <button type="button" class="small" onClick={() => setRotating(true)}>
              Rotate
            </button>
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
              ? 'The first look makes the secret of the account.'
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
            { head: 'Secret', cell: () => <code>whsec_••••••••••••</code> },
            {
              head: 'State',
              cell: ({ state }) => <Badge tone={states[state].tone}>{states[state].words}</Badge>,
            },
            { head: 'Issued', cell: ({ issued_at: at }) => <Time at={at} />, isWide: true },
            { head: 'Signs from', cell: ({ signs_from: at }) => <Time at={at} /> },
            {
              head: 'Valid until',
              cell: ({ valid_until: at }) =>
                at === null ? <span class="dim">it is replaced</span> : <Time at={at} />,
            },
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
          isBusy={rotate.isBusy}
          error={rotate.error}
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
            <button type="button" class="primary" onClick={() => setShown(undefined)}>
              Done
            </button>
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

function RotateDialog({
  isBusy,
  error,
  onReload,
  onClose,
  onRotate,
}: {
  isBusy: boolean;
  error: Parameters<typeof Failed>[0]['error'] | undefined;
  onReload: () => void;
  onClose: () => void;
  onRotate: (signFrom: SignFrom) => void;
}) {
  const [moment, setMoment] = useState<SignFrom>('now');
  return (
    <Dialog title="Rotate the secret" onClose={onClose}>
      <Form
        submit="Rotate the secret"
        isBusy={isBusy}
        error={error}
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
