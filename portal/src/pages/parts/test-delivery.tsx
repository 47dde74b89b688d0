/** One signed delivery to any address, one in 30 seconds. */
import { useEffect, useState } from 'preact/hooks';
import { useAction } from '../../api/hooks.ts';
import type { DeliveryDetail, WebhooksView } from '../../../../service/contract/portal-views.ts';
import { useKept } from '../../kept.ts';
import { useMay, useSession } from '../../session.ts';
import { Card } from '../../ui/basics.tsx';
import { Form, Text } from '../../ui/form.tsx';
import { DeliveryParts, DeliveryState } from './delivery-parts.tsx';

const pauseSeconds = 30;

export function TestDelivery({ data, onSent }: { data: WebhooksView; onSent: () => void }) {
  const { me } = useSession();
  const maySend = useMay('testWebhook');
  const [url, setUrl] = useKept('receiver', me.service.inbox_url ?? '');
  const [sent, setSent] = useState<DeliveryDetail>();
  const [until, setUntil] = useState(() => Date.now() + data.test_after_seconds * 1000);
  const send = useAction('testWebhook', ({ delivery }) => {
    setSent(delivery);
    setUntil(Date.now() + pauseSeconds * 1000);
    onSent();
  });
  const seconds = useSecondsUntil(until);
  const { error } = send;
  useEffect(() => {
    if (error?.retryAfter !== undefined && error.retryAfter !== null)
      setUntil(Date.now() + error.retryAfter * 1000);
  }, [error]);
  if (!maySend) return null;
  const hasSecret = data.secrets.length > 0;
  return (
    <Card title="Test delivery">
      <Form
        submit={seconds > 0 ? `Next test in ${seconds} s` : 'Send a test delivery'}
        isDisabled={!hasSecret || seconds > 0 || url.trim() === ''}
        isBusy={send.isBusy}
        error={error}
        onSubmit={() => send.run({ body: { url: url.trim() } })}
      >
        <Text
          label="Address of your receiver"
          type="url"
          inputMode="url"
          value={url}
          onInput={setUrl}
          placeholder="https://example.com/hooks"
          isRequired
          error={error?.fields.get('url')}
          hint={
            hasSecret
              ? 'It gets one creation.completed of a made-up creation, signed like each webhook.'
              : 'Open the signing secret first.'
          }
        />
      </Form>
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
