/** The three steps of a new account: a key, a request, a webhook. */
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { useAction } from '../../api/hooks.ts';
import { sessionEnded } from '../../api/call.ts';
import type { CreatedKeyView, HomeView } from '../../../../service/contract/portal-views.ts';
import { href } from '../../router.ts';
import { useMay } from '../../session.ts';
import { Form } from '../../ui/form.tsx';
import { useValue } from '../../value.ts';
import { RequestSnippets, ShownKey } from './shown-key.tsx';

const lookEveryMillis = 3000;

export function Start({ steps, onChange }: { steps: HomeView['steps']; onChange: () => void }) {
  const [created, setCreated] = useState<CreatedKeyView>();
  const [isStored, setStored] = useState(false);
  const create = useAction('createKey', (answer) => setCreated(answer));
  const mayCreate = useMay('createKey');
  const isEnded = useValue(sessionEnded);
  const hasKey = steps.has_key || created !== undefined;
  const waits = hasKey && !steps.has_creation && !isEnded;
  // The page sees the first request by itself.
  useEffect(() => {
    if (!waits) return;
    const timer = setInterval(() => {
      if (!document.hidden) onChange();
    }, lookEveryMillis);
    return () => clearInterval(timer);
  }, [waits, onChange]);
  return (
    <section class="card start">
      <header>
        <h2>Three steps to your first image</h2>
      </header>
      <ol>
        <Step
          number={1}
          title="Create a key"
          isDone={hasKey && (created === undefined || isStored)}
          isOpen={!steps.has_key || (created !== undefined && !isStored)}
        >
          {created && !isStored ? (
            <ShownKey
              of={created}
              onStored={() => {
                setStored(true);
                onChange();
              }}
            />
          ) : mayCreate ? (
            <Form
              submit="Create a key"
              isBusy={create.isBusy}
              error={create.error}
              onSubmit={() => create.run({ body: { name: 'First key' } })}
            >
              <p>Your programs name it in each request. It is shown once.</p>
            </Form>
          ) : (
            <p>A developer or an owner of the account creates the key.</p>
          )}
        </Step>
        <Step
          number={2}
          title="Send a request"
          isDone={steps.has_creation}
          isOpen={hasKey && !steps.has_creation && (created === undefined || isStored)}
        >
          <p>Send this from your terminal, with your key. This page sees it when it arrives.</p>
          <RequestSnippets apiKey="YOUR_KEY" />
          <p class="waiting" role="status">
            Waiting for the first request…
          </p>
        </Step>
        <Step
          number={3}
          title="Receive a webhook"
          isDone={steps.has_delivery}
          isOpen={hasKey && steps.has_creation && !steps.has_delivery}
        >
          <p>
            The service tells your server when an image is there. Open your signing secret, then send a test
            delivery.
          </p>
          <p>
            <a class="button" href={href('/webhooks')}>
              {steps.has_webhook_secret ? 'Send a test delivery' : 'Open the signing secret'}
            </a>
          </p>
        </Step>
      </ol>
    </section>
  );
}

function Step({
  number,
  title,
  isDone,
  isOpen,
  children,
}: {
  number: number;
  title: string;
  isDone: boolean;
  isOpen: boolean;
  children: ComponentChildren;
}) {
  return (
    <li class={isDone ? 'done' : isOpen ? 'current' : ''}>
      <span class="number" aria-hidden="true">
        {isDone ? '✓' : number}
      </span>
      <div>
        <h3>
          {title}
          {isDone && <span class="hidden"> (done)</span>}
        </h3>
        {isOpen && !isDone && children}
      </div>
    </li>
  );
}
