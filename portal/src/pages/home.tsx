import { useResource } from '../api/hooks.ts';
import type { HomeView } from '../../../service/contract/portal-views.ts';
import { href } from '../router.ts';
import { Card, Figure, Money } from '../ui/basics.tsx';
import { Page } from '../ui/page.tsx';
import { Loaded } from '../ui/states.tsx';
import { CreationTable } from './parts/creation-table.tsx';
import { KeyCaps } from './parts/key-caps.tsx';
import { Start } from './parts/start.tsx';

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
      <dl class="figures">
        <Figure
          name="Available"
          note={
            data.credit_line > 0 ? (
              <>
                with a credit line of <Money of={data.credit_line} />
              </>
            ) : undefined
          }
        >
          <a href={href('/wallet')}>
            <Money of={data.available} />
          </a>
        </Figure>
        <Figure name="Spent today">
          <Money of={data.spent_today} />
        </Figure>
        <Figure name="Spent this month" note="Days and months are those of UTC.">
          <Money of={data.spent_this_month} />
        </Figure>
        <Figure name="In flight" note={`of ${data.max_concurrent} at the same time`}>
          {data.in_flight}
        </Figure>
      </dl>
      {data.keys_near_cap.length > 0 && (
        <Card title="Keys near their cap" actions={<a href={href('/keys')}>All keys</a>}>
          <ul class="plain">
            {data.keys_near_cap.map((key) => (
              <li key={key.id} class="near-cap">
                <strong>{key.name}</strong>
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
