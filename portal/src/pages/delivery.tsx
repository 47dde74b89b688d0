import type { DeliveryDetail, DeliveryRow } from '../../../service/contract/portal-views.ts';
import { useAction, useNow, useResource } from '../api/hooks.ts';
import { go, href } from '../router.ts';
import { useMay } from '../session.tsx';
import { Badge, Button, Card, Clip, Code, Facts, Id, Time, type Tone } from '../ui/basics.tsx';
import { announce, Page } from '../ui/page.tsx';
import { Failed, Loaded } from '../ui/states.tsx';
import { Table } from '../ui/table.tsx';
import { durationText, isAhead } from '../words/figures.ts';

/** One attempt to deliver: the request and the answer, all of it as text. */
const tones: Readonly<Record<DeliveryRow['outcome'], Tone>> = {
  delivered: 'good',
  failed: 'bad',
  unknown: 'warn',
};

export function DeliveryState({ of }: { of: DeliveryRow }) {
  return (
    <Badge tone={tones[of.outcome]}>
      {of.outcome}
      {of.status !== null && ` ${of.status}`}
    </Badge>
  );
}

const headerText = (headers: Readonly<Record<string, string>>): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');

/** A body of JSON as a person reads it: with line breaks. Anything else stays as it is. */
function readable(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}

export function Body({ text }: { text: string }) {
  return (
    <>
      <Code text={readable(text)} label="the body of the request, with line breaks" />
      <details>
        <summary>Exactly as it is sent and signed</summary>
        <Code text={text} label="the exact body of the request" />
      </details>
    </>
  );
}

export function DeliveryParts({ of }: { of: DeliveryDetail }) {
  const { request, response } = of;
  return (
    <div class="exchange">
      <section>
        <h3>Request</h3>
        <p class="dim url">POST {of.url}</p>
        <Code text={headerText(request.headers)} label="the headers of the request" />
        {request.body === null ? (
          <p class="dim">The body is no longer stored.</p>
        ) : (
          <Body text={request.body} />
        )}
      </section>
      <section>
        <h3>Answer</h3>
        {response === null ? (
          <p class="dim">{of.outcome === 'delivered' ? 'The answer is not stored.' : 'No answer came.'}</p>
        ) : (
          <>
            <p class="dim">
              Status {response.status}
              {of.ms !== null && ` after ${durationText(of.ms)}`}
            </p>
            <Code text={headerText(response.headers)} label="the headers of the answer" />
            {response.body === '' ? (
              <p class="dim">The answer had no body.</p>
            ) : (
              <Code text={response.body} label="the body of the answer, its first KiB" />
            )}
          </>
        )}
      </section>
    </div>
  );
}

/** @param isOperated true: of an account that is not that of the session, so a delivery has no page */
export function DeliveryTable(props: {
  rows: readonly DeliveryRow[];
  caption: string;
  isOperated?: boolean;
}) {
  const { rows, caption, isOperated = false } = props;
  const now = useNow(15_000);
  return (
    <Table
      caption={caption}
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        [
          'Time',
          ({ id, at }) =>
            isOperated ? (
              <Time at={at} form="full" />
            ) : (
              <a href={href(`/deliveries/${encodeURIComponent(id)}`)}>
                <Time at={at} form="full" />
              </a>
            ),
        ],
        ['Result', (row) => <DeliveryState of={row} />],
        [
          'Event',
          (row) => (
            <>
              {row.event} {row.is_test && <Badge tone="calm">test</Badge>}
            </>
          ),
        ],
        [
          'Creation',
          ({ creation }) =>
            creation === null ? (
              <span class="dim">–</span>
            ) : (
              <a href={href(`${isOperated ? '/operator' : ''}/creations/${creation}`)}>
                <code class="line">…{creation.slice(-8)}</code>
              </a>
            ),
          'wide',
        ],
        [
          'Host',
          ({ host, endpoint }) =>
            endpoint === null || isOperated ? (
              <Clip text={host} />
            ) : (
              <a href={href(`/deliveries?endpoint=${endpoint}`)}>
                <Clip text={host} />
              </a>
            ),
          'wide',
        ],
        ['Attempt', ({ attempt, of }) => `${attempt} of ${of}`, 'number wide'],
        ['Took', ({ ms }) => (ms === null ? '–' : durationText(ms)), 'number wide'],
        [
          'Next attempt',
          ({ next_attempt_at: at }) =>
            isAhead(at, now) ? <Time at={at} form="relative" /> : <span class="dim">–</span>,
          'number wide',
        ],
      ]}
    />
  );
}

export function Delivery({ id }: { id: string }) {
  const delivery = useResource('getDelivery', { id });
  const mayRedeliver = useMay('redeliverCreation');
  const redeliver = useAction('redeliverCreation', () => {
    announce('The webhook is delivered again.');
    const creation = delivery.data?.creation;
    go(creation === null || creation === undefined ? '/deliveries' : `/deliveries?creation=${creation}`);
  });
  const now = useNow(15_000);
  const { data } = delivery;
  const creation = data?.creation ?? null;
  return (
    <Page
      title="Delivery"
      above={<a href={href('/deliveries')}>Deliveries</a>}
      actions={
        mayRedeliver &&
        data?.can_redeliver === true &&
        creation !== null && (
          <Button
            text="Redeliver"
            class="primary"
            isBusy={redeliver.isBusy}
            onClick={() => redeliver.run({ id: creation })}
          />
        )
      }
    >
      {redeliver.error && <Failed error={redeliver.error} />}
      <Loaded of={delivery}>
        {(shown) => (
          <>
            {shown.reason !== null && <p class="notice bad">{shown.reason}</p>}
            <Card>
              <Facts
                across
                rows={[
                  [
                    'Result',
                    <>
                      <DeliveryState of={shown} /> {shown.is_test && <Badge tone="calm">test</Badge>}
                    </>,
                  ],
                  ['Event', shown.event],
                  ['Time', <Time at={shown.at} form="full" />],
                  [
                    'Attempt',
                    <>
                      {shown.attempt} of {shown.of}
                    </>,
                  ],
                  ['Took', shown.ms === null ? '–' : durationText(shown.ms)],
                  isAhead(shown.next_attempt_at, now) && [
                    'Next attempt',
                    <Time at={shown.next_attempt_at} form="relative" />,
                  ],
                  shown.creation !== null && [
                    'Creation',
                    <a href={href(`/creations/${shown.creation}`)}>
                      <Id of={shown.creation} label="the id of the creation" plain />
                    </a>,
                  ],
                ]}
              />
            </Card>
            <Card title="Request and answer">
              <DeliveryParts of={shown} />
            </Card>
          </>
        )}
      </Loaded>
    </Page>
  );
}
