import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { CreatedKeyView, HomeView } from '../../../service/contract/portal-views.ts';
import { sessionEnded } from '../api/call.ts';
import { useAction, useResource } from '../api/hooks.ts';
import { href } from '../router.ts';
import { useMay } from '../session.tsx';
import { Card, Figures, Money } from '../ui/basics.tsx';
import { Form } from '../ui/form.tsx';
import { Page } from '../ui/page.tsx';
import { Loaded } from '../ui/states.tsx';
import { useValue } from '../value.ts';
import { budgetWords } from './parts/budget.tsx';
import { KeyCaps } from './parts/key-words.tsx';
import { CreationTable } from './parts/creation-table.tsx';
import { RequestSnippets, ShownKey } from './parts/key-dialogs.tsx';

/** The three steps of a new account: a key, a request, a webhook. */
const reloadEveryMillis = 3000;

function Start({ steps, onChange }: { steps: HomeView['steps']; onChange: () => void }) {
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
    }, reloadEveryMillis);
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
              action={create}
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
          <p>Send this from your terminal, with your key. This page updates when it arrives.</p>
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
            The service notifies your server when an image is ready. Open your signing secret, then send a
            test delivery.
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

function Step(props: {
  number: number;
  title: string;
  isDone: boolean;
  isOpen: boolean;
  children: ComponentChildren;
}) {
  const { number, title, isDone, isOpen, children } = props;
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

export function Home() {
  const home = useResource('getHome');
  return (
    <Page title="Home">
      <Loaded of={home}>{(data) => <Content data={data} onChange={home.reload} />}</Loaded>
    </Page>
  );
}

function Content({ data, onChange }: { data: HomeView; onChange: () => void }) {
  const { steps } = data;
  const isStarting = !steps.has_key || !steps.has_creation || !steps.has_delivery;
  return (
    <>
      {isStarting && <Start steps={steps} onChange={onChange} />}
      <Troubles of={data} />
      <BudgetNotice of={data} />
      <Figures
        rows={[
          [
            'Available',
            <a href={href('/wallet')}>
              <Money of={data.available} />
            </a>,
            data.credit_line > 0 ? (
              <>
                with a credit line of <Money of={data.credit_line} />
              </>
            ) : undefined,
          ],
          ['Spent today', <Money of={data.spent_today} />],
          ['Spent this month', <Money of={data.spent_this_month} />, 'Days and months are those of UTC.'],
          ['In flight', data.in_flight, `of ${data.max_concurrent} at the same time`],
        ]}
      />
      {data.keys_near_cap.length > 0 && (
        <Card title="Keys near their cap" actions={<a href={href('/keys')}>All keys</a>}>
          <ul class="plain">
            {data.keys_near_cap.map((key) => (
              <li key={key.id} class="near-cap">
                <a href={href(`/keys/${encodeURIComponent(key.id)}`)}>
                  <strong>{key.name}</strong>
                </a>
                <KeyCaps of={key} />
              </li>
            ))}
          </ul>
        </Card>
      )}
      {data.creations.length > 0 && (
        <Card title="Latest creations" actions={<a href={href('/creations')}>All creations</a>}>
          <CreationTable caption="The latest ten creations" rows={data.creations} />
        </Card>
      )}
    </>
  );
}

/** From 80 % of the month's budget on. */
function BudgetNotice({ of: { spent_this_month: spent, monthly_budget: budget } }: { of: HomeView }) {
  const words = budget === null ? undefined : budgetWords(spent, budget, null);
  if (words === undefined) return null;
  return (
    <p class="notice warn">
      {words} <a href={href('/usage')}>See the usage</a>
    </p>
  );
}

const webhooks = (count: number, one: string, more: string): string =>
  count === 1 ? `One webhook ${one}` : `${count} webhooks ${more}`;

/** Webhooks that are failing, and those that have failed. */
function Troubles({ of: { failing_webhooks: failing, failed_webhooks: failed } }: { of: HomeView }) {
  if (failing + failed === 0) return null;
  return (
    <p class="notice warn">
      {failing > 0 &&
        `${webhooks(failing, 'is', 'are')} failing: an attempt failed, and another one follows. `}
      {failed > 0 && `${webhooks(failed, 'has', 'have')} failed for good in the last 24 hours. `}
      <a href={href('/deliveries?outcome=failed')}>See why</a>
    </p>
  );
}
