/** Creations as pictures, in rows of one height, each in its natural ratio. */
import type { CreationRow } from '../../../../service/contract/portal-views.ts';
import { Money, Time } from '../../ui/basics.tsx';
import { setQuery } from '../../router.ts';
import { CreationState } from '../parts/creation-table.tsx';
import { isPictured } from './files.ts';
import { Picture, ratioOf } from './picture.tsx';

const ratioOfText = (text: string): number => {
  const [width = 1, height = 1] = text.split(':').map(Number);
  return width > 0 && height > 0 ? width / height : 1;
};

const shape = (row: CreationRow): number =>
  Math.min(2.4, Math.max(0.5, row.picture ? ratioOf(row.picture) : ratioOfText(row.aspect_ratio)));

export const nameOf = ({ prompt, model }: Pick<CreationRow, 'prompt' | 'model'>): string =>
  prompt ?? `A picture of ${model}`;

/** @param chosen the ids that are selected. Absent: nothing can be selected now. */
export function Grid(props: {
  rows: readonly CreationRow[];
  chosen?: ReadonlySet<string> | undefined;
  onChoose: (id: string) => void;
}) {
  const { rows, chosen, onChoose } = props;
  return (
    <ul class="gallery" aria-label="Creations, the newest first">
      {rows.map((row) => (
        <li
          key={row.id}
          data-row={row.id}
          class={chosen?.has(row.id) === true ? 'chosen' : ''}
          style={{ '--ratio': shape(row).toFixed(4) }}
        >
          <button
            type="button"
            class="tile"
            disabled={chosen !== undefined && !isPictured(row)}
            {...(chosen && { 'aria-pressed': chosen.has(row.id) })}
            onClick={() => (chosen ? onChoose(row.id) : setQuery({ view: row.id }, 'push'))}
          >
            {row.picture ? (
              <Picture of={row.picture} url={row.picture.large_url ?? row.picture.url} alt={nameOf(row)} />
            ) : (
              <span class={row.look_after_seconds === null ? 'photo none' : 'photo none rendering'}>
                <CreationState of={row} />
                <span class="words" dir="auto">
                  {nameOf(row)}
                </span>
              </span>
            )}
            {row.picture && (
              <span class="caption" aria-hidden="true">
                <span class="words" dir="auto">
                  {nameOf(row)}
                </span>
                <span class="dim">
                  <Time at={row.created_at} /> · <Money of={row.cost} />
                </span>
              </span>
            )}
          </button>
        </li>
      ))}
    </ul>
  );
}
