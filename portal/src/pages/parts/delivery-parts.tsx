/** One attempt to deliver: what was sent, and what came back. All of it is text. */
import { useNow } from '../../api/hooks.ts';
import type { DeliveryDetail, DeliveryRow } from '../../../../service/contract/portal-views.ts';
import { href } from '../../router.ts';
import { Badge, Clip, Code, Time, type Tone } from '../../ui/basics.tsx';
import { Table } from '../../ui/table.tsx';
import { durationText, isAhead } from '../../words/time.ts';

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

export function DeliveryParts({ of }: { of: DeliveryDetail }) {
  const { request, response } = of;
  return (
    <div class="exchange">
      <section>
        <h3>Request</h3>
        <p class="dim url">POST {of.url}</p>
        <Code text={headerText(request.headers)} label="the headers of the request" />
        {request.body === null ? (
          <p class="dim">The body is not kept any more.</p>
        ) : (
          <>
            <Code text={readable(request.body)} label="the body of the request, with line breaks" />
            <details>
              <summary>Exactly as it was sent and signed</summary>
              <Code text={request.body} label="the exact body of the request" />
            </details>
          </>
        )}
      </section>
      <section>
        <h3>Answer</h3>
        {response === null ? (
          <p class="dim">{of.outcome === 'delivered' ? 'The answer is not kept.' : 'No answer came.'}</p>
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

export function DeliveryTable({ rows, caption }: { rows: readonly DeliveryRow[]; caption: string }) {
  const now = useNow(15_000);
  return (
    <Table
      caption={caption}
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        {
          head: 'Time',
          cell: ({ id, at }) => (
            <a href={href(`/deliveries/${encodeURIComponent(id)}`)}>
              <Time at={at} form="full" />
            </a>
          ),
        },
        { head: 'Result', cell: (row) => <DeliveryState of={row} /> },
        {
          head: 'Event',
          cell: (row) => (
            <>
              {row.event} {row.is_test && <Badge tone="calm">test</Badge>}
            </>
          ),
        },
        {
          head: 'Creation',
          isWide: true,
          cell: ({ creation }) =>
            creation === null ? (
              <span class="dim">–</span>
            ) : (
              <a href={href(`/creations/${creation}`)}>
                <code class="line">…{creation.slice(-8)}</code>
              </a>
            ),
        },
        { head: 'Host', cell: ({ host }) => <Clip text={host} />, isWide: true },
        { head: 'Attempt', isNumber: true, isWide: true, cell: ({ attempt, of }) => `${attempt} of ${of}` },
        {
          head: 'Took',
          isNumber: true,
          isWide: true,
          cell: ({ ms }) => (ms === null ? '–' : durationText(ms)),
        },
        {
          head: 'Next attempt',
          isNumber: true,
          isWide: true,
          cell: ({ next_attempt_at: at }) =>
            isAhead(at, now) ? <Time at={at} form="relative" /> : <span class="dim">–</span>,
        },
      ]}
    />
  );
}
