/** The last creations of the playground, side by side. */
import { useEffect, useState } from 'preact/hooks';
import { useRows } from '../../api/hooks.ts';
import { useOpenCreations } from '../../api/open-creations.ts';
import { Button } from '../../ui/basics.tsx';
import { isPictured } from '../gallery/files.ts';
import { nameOf } from '../gallery/grid.tsx';
import { Picture } from '../gallery/picture.tsx';
import { Comparison } from '../gallery/selection.tsx';
import { CreationState } from '../parts/creation-table.tsx';

/** A page of the strip, and all that the strip shows. */
const atOnce = 12;
const most = 50;

/** @param orders changes when a creation was ordered here: then the strip reads again */
export function Strip(props: { shown: string | undefined; orders: number; onShow: (id: string) => void }) {
  const { shown, orders, onShow } = props;
  const read = useRows('listPortalCreations', { key: 'portal', limit: String(atOnce) });
  const [compared, setCompared] = useState<string>();
  useOpenCreations(read.data ?? [], (newer) => read.change((row) => (row.id === newer.id ? newer : row)));
  const { reload } = read;
  useEffect(() => {
    if (orders > 0) reload();
  }, [orders, reload]);
  const rows = read.data ?? [];
  if (rows.length === 0) return null;
  const pictures = rows.filter(isPictured);
  const [left, right] = [compared, shown].map((id) => pictures.find((row) => row.id === id));
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
            {shown !== undefined && row.id !== shown && isPictured(row) && (
              <Button
                text="Compare"
                class="small"
                aria-label={`Compare with ${nameOf(row)}`}
                onClick={() => setCompared(row.id)}
              />
            )}
          </li>
        ))}
        {read.hasMore && rows.length < most && (
          <li>
            <Button text="More" class="tile" isBusy={read.isLoading} onClick={read.more} />
          </li>
        )}
      </ul>
      {left && right && <Comparison of={[left, right]} onClose={() => setCompared(undefined)} />}
    </section>
  );
}
