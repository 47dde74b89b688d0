/** One picture over the whole page: arrows go to its neighbours, and it can be seen in its own pixels. */
import { useEffect, useState } from 'preact/hooks';
import type { CreationRow } from '../../../../service/contract/portal-views.ts';
import { go, href } from '../../router.ts';
import { Button, Money, Time } from '../../ui/basics.tsx';
import { announce, Cover } from '../../ui/page.tsx';
import { CreationState } from '../parts/creation-table.tsx';
import { download, isPictured, type Pictured } from './files.ts';
import { nameOf } from './grid.tsx';
import { Picture } from './picture.tsx';

export function Viewer(props: {
  rows: readonly CreationRow[];
  id: string;
  onShow: (id: string) => void;
  onClose: () => void;
}) {
  const { rows, id, onShow, onClose } = props;
  const [isLarge, setLarge] = useState(false);
  const at = rows.findIndex((row) => row.id === id);
  const row = rows[at];
  const step = (by: number): void => {
    const next = rows[at + by];
    if (next) onShow(next.id);
  };
  useEffect(() => setLarge(false), [id]);
  useEffect(() => {
    // The address may name a creation that is not among the rows.
    if (!row) go(`/creations/${id}`, 'replace');
  }, [id]);
  if (!row) return null;
  const keys: Readonly<Record<string, () => void>> = {
    ArrowLeft: () => step(-1),
    ArrowRight: () => step(1),
    Home: () => step(-at),
    End: () => step(rows.length - 1 - at),
    z: () => setLarge((one) => !one),
    d: () => isPictured(row) && void downloaded(row),
  };
  return (
    <Cover label="Picture" class="viewer" onClose={onClose} onKey={(key) => keys[key]?.()}>
      <div class="bar">
        <p class="clip" dir="auto">
          {nameOf(row)}
        </p>
        {isPictured(row) && (
          <>
            <Button
              text={isLarge ? 'Fit' : 'Zoom'}
              class="small"
              aria-pressed={isLarge}
              onClick={() => setLarge(!isLarge)}
            />
            <Button text="Download" class="small" onClick={() => void downloaded(row)} />
          </>
        )}
        <a class="button small" href={href(`/creations/${row.id}`)}>
          Details
        </a>
        <Button text="✕" class="small quiet" aria-label="Close" onClick={onClose} />
      </div>
      <Stage key={id} of={row} isLarge={isLarge} onZoom={() => setLarge(!isLarge)} />
      <div class="bar">
        <Button
          text="‹"
          class="small"
          aria-label="The newer one"
          disabled={at === 0}
          onClick={() => step(-1)}
        />
        <p class="dim" role="status">
          {at + 1} of {rows.length} · <CreationState of={row} /> · {row.model}
          {row.picture && ` · ${row.picture.width} × ${row.picture.height}`} · <Money of={row.cost} /> ·{' '}
          <Time at={row.created_at} />
        </p>
        <Button
          text="›"
          class="small"
          aria-label="The older one"
          disabled={at === rows.length - 1}
          onClick={() => step(1)}
        />
      </div>
    </Cover>
  );
}

async function downloaded(row: Pictured): Promise<void> {
  await download(row).then(
    () => announce('The picture is in your downloads.'),
    () => announce('The picture could not be fetched. Its result may have ended.'),
  );
}

/** The thumbnail is shown at once, and the picture covers it when it is loaded. */
function Stage(props: { of: CreationRow; isLarge: boolean; onZoom: () => void }) {
  const { of, isLarge, onZoom } = props;
  if (!of.picture)
    return (
      <div class="stage">
        <p class="dim">{of.error ?? 'This creation has no picture.'}</p>
      </div>
    );
  const { width, height, url, large_url: small } = of.picture;
  return (
    <div
      class={isLarge ? 'stage large' : 'stage'}
      tabIndex={isLarge ? 0 : -1}
      role="group"
      aria-label="The picture"
      onDblClick={onZoom}
    >
      <div
        class="sheet"
        style={{
          '--width': `${width}px`,
          '--ratio': String(width / Math.max(1, height)),
          ...(small !== null && { backgroundImage: `url(${JSON.stringify(small)})` }),
        }}
      >
        <Picture of={of.picture} url={url} alt={nameOf(of)} isEager />
      </div>
    </div>
  );
}
