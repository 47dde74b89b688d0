/**
 * The providers: figures of the last hour and day, and the switch that pauses a provider for all accounts.
 */
import { useState } from 'preact/hooks';
import type {
  AttemptFigures,
  PauseBody,
  ProviderSpan,
  ProvidersView,
  ProviderView,
  RouteView,
} from '../../../../service/contract/portal-views.ts';
import { useAction, useResource } from '../../api/hooks.ts';
import { useKept } from '../../kept.ts';
import { Badge, Button, Card, Clip, Time } from '../../ui/basics.tsx';
import { Form, Text } from '../../ui/form.tsx';
import { announce, Dialog, Page } from '../../ui/page.tsx';
import { Empty, Failed, Loaded } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { durationText, money } from '../../words/figures.ts';
import { routeWords } from './service.tsx';
import { inWords, Spark } from './spark.tsx';

type Route = Pick<PauseBody, 'provider'> & { readonly model: string | null; readonly quality: string | null };

export function Providers() {
  const providers = useResource('listProviders');
  const [pausing, setPausing] = useKept<Route | undefined>('pausing', undefined);
  const change = useAction('pauseRoute', ({ pause }) => {
    setPausing(undefined);
    providers.reload();
    announce(pause === null ? 'New creations go there again.' : 'It is paused. Running creations continue.');
  });
  const resume = (route: Route): void => change.run({ body: { ...route, paused: false } });
  const switches = { onPause: setPausing, onResume: resume };
  return (
    <Page title="Providers" above="Operator" lead={<Lead of={providers.data} />}>
      {!pausing && change.error && <Failed error={change.error} />}
      <Loaded of={providers} rows={8}>
        {(data) => (
          <>
            {data.data
              .filter(({ enabled }) => enabled)
              .map((provider) => (
                <Provider key={provider.name} of={provider} {...switches} />
              ))}
            <Others of={data} />
          </>
        )}
      </Loaded>
      {pausing && (
        <PauseDialog
          route={pausing}
          action={change}
          onClose={() => {
            setPausing(undefined);
            change.clear();
          }}
        />
      )}
    </Page>
  );
}

/** The second sentence is empty until it is loaded. It then needs no additional space. */
function Lead({ of }: { of: ProvidersView | undefined }) {
  return (
    <>
      Failures that the client caused do not count against a provider.{' '}
      {of && (
        <>
          From the newest {of.creations} creations since <Time at={of.since} />.
        </>
      )}
    </>
  );
}

function Others({ of: { data } }: { of: ProvidersView }) {
  const others = data.filter(({ enabled }) => !enabled);
  if (others.length === 0) return null;
  return (
    <details class="card">
      <summary>
        {others.length === 1 ? 'One provider has no key' : `${others.length} providers have no key`}
      </summary>
      <p>{others.map(({ name }) => name).join(', ')}</p>
    </details>
  );
}

interface Switches {
  readonly onPause: (route: Route) => void;
  readonly onResume: (route: Route) => void;
}

function Provider({ of, onPause, onResume }: { of: ProviderView } & Switches) {
  const whole: Route = { provider: of.name, model: null, quality: null };
  return (
    <Card
      title={of.name}
      actions={<Switch route={whole} since={of.paused_since} onPause={onPause} onResume={onResume} />}
    >
      {of.paused_since !== null && (
        <p class="notice warn">
          Paused since <Time at={of.paused_since} />
          {of.pause_reason !== null && `: ${of.pause_reason}`}
        </p>
      )}
      <div class="spans">
        <Span name="Last hour" of={of.hour} part="5 minutes" />
        <Span name="Last day" of={of.day} part="hour" />
      </div>
      <Outcomes of={of} />
      <details>
        <summary>{of.routes.length === 1 ? 'One route' : `${of.routes.length} routes`}</summary>
        <Routes of={of} onPause={onPause} onResume={onResume} />
      </details>
    </Card>
  );
}

function Switch(props: { route: Route; since: string | null; isSmall?: boolean } & Switches) {
  const { route, since, onPause, onResume } = props;
  return since === null ? (
    <Button
      text="Pause"
      class="small"
      aria-label={`Pause ${routeWords(route)}`}
      onClick={() => onPause(route)}
    />
  ) : (
    <Button
      text="Resume"
      class="small primary"
      aria-label={`Resume ${routeWords(route)}`}
      onClick={() => onResume(route)}
    />
  );
}

/** Null: nothing was tried. */
const shareOf = ({ succeeded, failed }: AttemptFigures): number | null =>
  succeeded + failed === 0 ? null : succeeded / (succeeded + failed);
const percent = (share: number): string => `${Math.floor(share * 1000) / 10} %`;
const seconds = (value: number): string => durationText(value * 1000);

/** Success, time and cost, each as a figure with a chart. */
function Span({ name, of, part }: { name: string; of: ProviderSpan; part: string }) {
  const share = shareOf(of);
  const tried = of.succeeded + of.failed;
  return (
    <section>
      <h3>{name}</h3>
      <dl class="sparks">
        <Figure
          name="Success"
          value={share === null ? '–' : percent(share)}
          note={`${of.succeeded} of ${tried}`}
          parts={of.parts.map(shareOf)}
          wordOf={percent}
          part={part}
          most={1}
        />
        <Figure
          name="Time"
          value={of.p50_seconds === null ? '–' : seconds(of.p50_seconds)}
          note="median"
          parts={of.parts.map(({ p50_seconds: one }) => one)}
          wordOf={seconds}
          part={part}
        />
        <Figure
          name="Cost"
          value={of.p50_cost === null ? '–' : money(of.p50_cost)}
          note="median"
          parts={of.parts.map(({ p50_cost: one }) => one)}
          wordOf={(one) => money(one)}
          part={part}
        />
      </dl>
    </section>
  );
}

function Figure(props: {
  name: string;
  value: string;
  note: string;
  parts: readonly (number | null)[];
  wordOf: (value: number) => string;
  part: string;
  most?: number;
}) {
  const { name, value, note, parts, wordOf, part, most } = props;
  const isEmpty = parts.every((one) => one === null);
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <strong>{value}</strong> <span class="dim">{note}</span>
        <Spark values={parts} {...(most !== undefined && { most })} />
        {!isEmpty && (
          <span class="hidden">{`For each ${part}, the oldest first: ${inWords(parts, wordOf)}.`}</span>
        )}
      </dd>
    </div>
  );
}

function Outcomes({ of: { day, outcomes } }: { of: ProviderView }) {
  const names = Object.entries(outcomes);
  if (names.length + day.declined === 0) return null;
  return (
    <p class="dim">
      {day.declined > 0 && `${day.declined} by the client’s fault. `}
      {names.length > 0 &&
        `Failures of the day: ${names.map(([name, count]) => `${name} ${count}`).join(', ')}.`}
    </p>
  );
}

function Routes({ of: { name, routes, paused_since: since }, ...switches }: { of: ProviderView } & Switches) {
  if (routes.length === 0) return <Empty title="No model has a route here" />;
  return (
    <Table
      caption={`Routes of ${name}`}
      rows={routes}
      keyOf={({ model, quality }) => `${model} ${quality ?? ''}`}
      columns={[
        [
          'Model',
          ({ model, quality }) => (
            <>
              <Clip text={model} /> {quality !== null && <span class="dim">{quality}</span>}
            </>
          ),
        ],
        ['State', (route) => <RouteState of={route} />],
        ['Usual time', ({ usual_seconds: one }) => (one === null ? '–' : seconds(one)), 'number wide'],
        [
          'Actions',
          ({ model, quality, paused_since: own }) =>
            since === null && <Switch route={{ provider: name, model, quality }} since={own} {...switches} />,
          'actions',
        ],
      ]}
    />
  );
}

function RouteState({ of: { open_since: open, paused_since: paused } }: { of: RouteView }) {
  if (paused !== null) return <Badge tone="warn">paused</Badge>;
  return open === null ? <Badge tone="good">healthy</Badge> : <Badge tone="bad">failing</Badge>;
}

function PauseDialog(props: {
  route: Route;
  action: ReturnType<typeof useAction<'pauseRoute'>>;
  onClose: () => void;
}) {
  const { route, action, onClose } = props;
  const [reason, setReason] = useState('');
  return (
    <Dialog title={`Pause ${routeWords(route)}`} onClose={onClose}>
      <Form
        submit="Pause it for everybody"
        isDangerous
        action={action}
        onCancel={onClose}
        onSubmit={() =>
          action.run({
            body: { ...route, paused: true, ...(reason.trim() !== '' && { reason: reason.trim() }) },
          })
        }
      >
        <p>
          No account gets a new image there until you resume it. Running creations continue. A model without
          another route is refused.
        </p>
        <Text
          label="Reason"
          hint="For the other people of the operator."
          value={reason}
          onInput={setReason}
          error={action.error?.fields.get('reason')}
        />
      </Form>
    </Dialog>
  );
}
