/** Several creations: into one archive, or two beside each other. */
import { useRef, useState } from 'preact/hooks';
import type { CreationRow } from '../../../../service/contract/portal-views.ts';
import { Button, Money } from '../../ui/basics.tsx';
import { announce, Cover } from '../../ui/page.tsx';
import { downloadAll, isPictured, type Pictured } from './files.ts';
import { nameOf } from './grid.tsx';
import { Picture } from './picture.tsx';

export function Selection(props: {
  rows: readonly CreationRow[];
  chosen: ReadonlySet<string>;
  onChoose: (ids: readonly string[]) => void;
  onEnd: () => void;
}) {
  const { rows, chosen, onChoose, onEnd } = props;
  const [isComparing, setComparing] = useState(false);
  const [progress, setProgress] = useState<number>();
  const abort = useRef<AbortController>(undefined);
  const pictures = rows.filter(isPictured);
  const picked = pictures.filter(({ id }) => chosen.has(id));
  const zip = async (): Promise<void> => {
    abort.current = new AbortController();
    setProgress(0);
    try {
      const missing = await downloadAll(picked, setProgress, abort.current.signal);
      announce(
        missing === 0
          ? `${picked.length} pictures are in the archive.`
          : `${picked.length - missing} pictures are in the archive. ${missing} could not be fetched.`,
      );
    } catch {
      announce('No archive was written.');
    }
    setProgress(undefined);
  };
  const [left, right] = picked;
  return (
    <div class="selection" role="toolbar" aria-label="Selected pictures">
      <p>
        {progress === undefined
          ? `${picked.length} selected`
          : `Picture ${progress + 1} of ${picked.length}…`}
      </p>
      {progress === undefined ? (
        <>
          <Button
            text="Select all"
            class="small"
            disabled={picked.length === pictures.length}
            onClick={() => onChoose(pictures.map(({ id }) => id))}
          />
          <Button
            text="Compare"
            class="small"
            disabled={picked.length !== 2}
            title="Two pictures beside each other"
            onClick={() => setComparing(true)}
          />
          <Button
            text="Download as zip"
            class="small primary"
            disabled={picked.length === 0}
            onClick={() => void zip()}
          />
          <Button text="Done" class="small" onClick={onEnd} />
        </>
      ) : (
        <Button text="Stop" class="small" onClick={() => abort.current?.abort()} />
      )}
      {isComparing && left && right && <Comparison of={[left, right]} onClose={() => setComparing(false)} />}
    </div>
  );
}

export function Comparison(props: { of: readonly [Pictured, Pictured]; onClose: () => void }) {
  const { of, onClose } = props;
  return (
    <Cover label="Two pictures" class="compare" onClose={onClose}>
      <div class="bar">
        <p>Two pictures</p>
        <Button text="✕" class="small quiet" aria-label="Close" onClick={onClose} />
      </div>
      <div class="pair">
        {of.map((row) => (
          <figure key={row.id}>
            <Picture of={row.picture} url={row.picture.url} alt={nameOf(row)} isEager />
            <figcaption>
              <span dir="auto">{nameOf(row)}</span>
              <span class="dim">
                {row.model} · {row.picture.width} × {row.picture.height} · <Money of={row.cost} />
              </span>
            </figcaption>
          </figure>
        ))}
      </div>
    </Cover>
  );
}
