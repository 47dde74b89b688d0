import type { CreationRow } from '../../../../service/contract/portal-views.ts';
import { useNow } from '../../api/hooks.ts';
import { href } from '../../router.ts';
import { Badge, Clip, Money, Time, type Tone } from '../../ui/basics.tsx';
import { Table } from '../../ui/table.tsx';
import { Picture } from '../gallery/picture.tsx';
import { digitsFor, relativeText, utcText } from '../../words/figures.ts';

const tones: Readonly<Record<CreationRow['status'], Tone>> = {
  queued: 'calm',
  processing: 'busy',
  completed: 'good',
  failed: 'bad',
};

/** The state in one word. A cancelled creation is a failed one to the API. */
export function CreationState({ of }: { of: Pick<CreationRow, 'status' | 'cancelled_at'> }) {
  if (of.cancelled_at !== null) return <Badge tone="calm">cancelled</Badge>;
  return <Badge tone={tones[of.status]}>{of.status}</Badge>;
}

/** The thumbnail of a result. The picture itself is too large for a list. */
function Thumbnail({ of }: { of: CreationRow }) {
  return (
    <span class="thumbnail">
      {of.picture && <Picture of={of.picture} url={of.picture.small_url} alt="" />}
    </span>
  );
}

/** @param at the path of a creation's page, without its id */
export function CreationTable(props: { caption: string; rows: readonly CreationRow[]; at?: string }) {
  const { caption, rows, at = '/creations' } = props;
  const digits = digitsFor(rows.map(({ cost }) => cost));
  return (
    <Table
      caption={caption}
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        [
          'Creation',
          (row) => (
            <a class="creation-link" href={href(`${at}/${row.id}`)}>
              <Thumbnail of={row} />
              <span class="clip" dir="auto">
                {row.prompt ?? <span class="dim">without a prompt</span>}
              </span>
            </a>
          ),
        ],
        ['State', (row) => <CreationState of={row} />],
        ['Model', ({ model }) => model, 'wide'],
        ['Key', ({ key }) => <Clip text={key.name} />, 'wide'],
        ['User', ({ user }) => (user === null ? <span class="dim">–</span> : <Clip text={user} />), 'wide'],
        [
          'Cost',
          ({ cost, amount_refunded: refunded }) =>
            refunded > 0 ? (
              <span title="Refunded">
                <s>
                  <Money of={cost} digits={digits} />
                </s>
              </span>
            ) : (
              <Money of={cost} digits={digits} />
            ),
          'number',
        ],
        ['Created', ({ created_at: at }) => <Time at={at} />, 'number wide'],
      ]}
    />
  );
}

/** How long the result of a creation can still be fetched. */
export function Expiry({ at }: { at: string }) {
  const now = useNow(1000);
  const left = Date.parse(at) - now;
  return (
    <time dateTime={at} title={utcText(at)} class={left < 3_600_000 ? 'soon' : ''}>
      {left <= 0 ? 'result is gone' : `result is kept ${relativeText(at, now).replace(/^in /, 'for ')}`}
    </time>
  );
}
