/** Paints what may change in the first source image. The mask is black, and white where a person has painted. */
import { useRef, useState } from 'preact/hooks';
import { Refusal } from '../../api/call.ts';
import { Button } from '../../ui/basics.tsx';
import { Failed } from '../../ui/states.tsx';
import { type Source, upload } from './source-images.tsx';

/** The width of a stroke, as a share of the shorter side. */
const brushShare = 0.08;

export function MaskBrush(props: {
  source: Source;
  isUsed: boolean;
  /** Of the stored mask, as "upload:ID". Undefined: none is used any more. */
  onChange: (maskUrl: string | undefined) => void;
}) {
  const { source, isUsed, onChange } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const [isPainted, setPainted] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<Refusal>();
  const paint = (event: PointerEvent, isFirst: boolean): void => {
    const { current } = canvas;
    const pen = current?.getContext('2d');
    if (!current || !pen || event.buttons === 0) return;
    const scale = current.width / current.clientWidth;
    const [x, y] = [event.offsetX * scale, event.offsetY * scale];
    if (isFirst) {
      current.setPointerCapture(event.pointerId);
      pen.beginPath();
      pen.moveTo(x, y);
    }
    pen.lineWidth = Math.min(current.width, current.height) * brushShare;
    pen.lineCap = pen.lineJoin = 'round';
    pen.strokeStyle = '#fff';
    pen.lineTo(x, y);
    pen.stroke();
    setPainted(true);
    if (isUsed) onChange(undefined);
  };
  const store = async (): Promise<void> => {
    setBusy(true);
    setError(undefined);
    try {
      onChange((await upload(await maskOf(canvas.current))).imageUrl);
    } catch (failure) {
      setError(failure instanceof Refusal ? failure : new Refusal('PAGE', 'The mask could not be made.'));
    }
    setBusy(false);
  };
  const clear = (): void => {
    const { current } = canvas;
    current?.getContext('2d')?.clearRect(0, 0, current.width, current.height);
    setPainted(false);
    onChange(undefined);
  };
  return (
    <div class="mask">
      <p class="dim">Paint what may change in the first source image. The rest stays as it is.</p>
      <div>
        <img
          src={source.preview}
          alt=""
          onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) => {
            if (canvas.current) Object.assign(canvas.current, { width: naturalWidth, height: naturalHeight });
          }}
        />
        <canvas
          ref={canvas}
          role="img"
          aria-label={`The mask of ${source.name}`}
          onPointerDown={(event) => paint(event, true)}
          onPointerMove={(event) => paint(event, false)}
        />
      </div>
      <p class="row">
        <Button
          text={isUsed ? 'The mask is used' : 'Use as the mask'}
          class="small"
          isBusy={isBusy}
          disabled={!isPainted || isUsed}
          onClick={() => void store()}
        />
        {isPainted && <Button text="Clear the mask" class="small" onClick={clear} />}
      </p>
      {error && <Failed error={error} />}
    </div>
  );
}

async function maskOf(painted: HTMLCanvasElement | null): Promise<File> {
  const whole = document.createElement('canvas');
  Object.assign(whole, { width: painted?.width, height: painted?.height });
  const pen = whole.getContext('2d');
  if (!painted || !pen) throw new Error('no canvas');
  pen.fillRect(0, 0, whole.width, whole.height);
  pen.drawImage(painted, 0, 0);
  const blob = await new Promise<Blob | null>((resolve) => whole.toBlob(resolve, 'image/png'));
  if (!blob) throw new Error('no picture');
  return new File([blob], 'mask.png', { type: 'image/png' });
}
