/** The last creations of the playground, side by side. */
import type { CreationRow } from '../../../../service/contract/portal-views.ts';
import { Button } from '../../ui/basics.tsx';
import { isPictured } from '../gallery/files.ts';
import { nameOf } from '../gallery/grid.tsx';
import { Picture } from '../gallery/picture.tsx';
import { CreationState } from '../parts/creation-table.tsx';

export function Strip(props: {
  rows: readonly CreationRow[];
  shown: string | undefined;
  onShow: (id: string) => void;
  /** Compares with the one that is shown. Absent: none is shown. */
  onCompare: ((id: string) => void) | undefined;
}) {
  const { rows, shown, onShow, onCompare } = props;
  if (rows.length === 0) return null;
  return (
    <section aria-label="Made here before">
      <h2>Made here before</h2>
      <ul class="strip" tabIndex={0}>
        {rows.map((row) => (
          <li key={row.id}>
            <button
              type="button"
              class="tile"
              aria-pressed={row.id === shown}
              title={nameOf(row)}
              onClick={() => onShow(row.id)}
            >
              {row.picture ? (
                <Picture of={row.picture} url={row.picture.small_url} alt={nameOf(row)} />
              ) : (
                <span class="photo none">
                  <CreationState of={row} />
                  <span class="hidden">{nameOf(row)}</span>
                </span>
              )}
            </button>
            {onCompare && row.id !== shown && isPictured(row) && (
              <Button
                text="Compare"
                class="small"
                aria-label={`Compare with ${nameOf(row)}`}
                onClick={() => onCompare(row.id)}
              />
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
