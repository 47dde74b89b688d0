/** Source images: the bytes go straight to the bucket, by an address that the service signs. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { call, Refusal } from '../../api/call.ts';
import { Button, Money } from '../../ui/basics.tsx';
import { Field } from '../../ui/form.tsx';
import { Failed } from '../../ui/states.tsx';

export interface Source {
  readonly name: string;
  /** "upload:ID", for image_urls. */
  readonly imageUrl: string;
  /** Of the file as the browser has it. */
  readonly preview: string;
}

const types = ['image/png', 'image/jpeg', 'image/webp'];

/** Puts a picture into the storage. @throws Refusal */
export async function upload(file: File): Promise<Source> {
  if (!types.includes(file.type)) throw new Refusal('PAGE', `${file.name} is no PNG, JPEG or WebP.`);
  const body = { content_type: file.type, bytes: file.size };
  const {
    image_url: imageUrl,
    upload_url: url,
    upload_headers: headers,
  } = await call('createPortalUpload', { body });
  const answer = await fetch(url, { method: 'PUT', headers, body: file }).catch(() => undefined);
  if (answer?.ok !== true)
    throw new Refusal('PAGE', `${file.name} did not reach the storage. Choose it again.`);
  return { name: file.name, imageUrl, preview: URL.createObjectURL(file) };
}

const picturesOf = (data: DataTransfer | null): File[] =>
  [...(data?.files ?? [])].filter(({ type }) => types.includes(type));

export function SourceImages(props: {
  sources: readonly Source[];
  most: number;
  pricePerImage: number;
  onChange: (sources: readonly Source[]) => void;
}) {
  const { sources, most, pricePerImage, onChange } = props;
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<Refusal>();
  const [isOver, setOver] = useState(false);
  const add = async (given: Iterable<File>): Promise<void> => {
    const files = [...given].slice(0, most - sources.length);
    if (files.length === 0) return;
    setBusy(true);
    setError(undefined);
    const added: Source[] = [];
    try {
      for (const file of files) added.push(await upload(file));
    } catch (failure) {
      setError(failure instanceof Refusal ? failure : new Refusal('PAGE', 'The image could not be read.'));
    }
    setBusy(false);
    if (added.length > 0) onChange([...sources, ...added]);
  };
  // A picture of the clipboard becomes a source, wherever the page has the focus. A layout effect begins before the
  // page is visible, so no paste is lost.
  const paste = useRef(add);
  paste.current = add;
  useLayoutEffect(() => {
    const take = (event: ClipboardEvent): void => {
      const files = picturesOf(event.clipboardData);
      if (files.length === 0) return;
      event.preventDefault();
      void paste.current(files);
    };
    document.addEventListener('paste', take);
    return () => document.removeEventListener('paste', take);
  }, []);
  return (
    <div
      class={isOver ? 'drop over' : 'drop'}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        void add(picturesOf(event.dataTransfer));
      }}
    >
      <Field
        label="Source images"
        hint={
          <>
            PNG, JPEG or WebP, at most {most}: choose, drop or paste them. Each adds{' '}
            <Money of={pricePerImage} />.
          </>
        }
      >
        {(ids) => (
          <input
            {...ids}
            type="file"
            accept={types.join(',')}
            multiple
            disabled={isBusy || sources.length >= most}
            onChange={(event) => {
              const input = event.currentTarget;
              void add(input.files ?? []).then(() => (input.value = ''));
            }}
          />
        )}
      </Field>
      {isBusy && <p role="status">Uploading…</p>}
      {error && <Failed error={error} />}
      {sources.length > 0 && (
        <ul class="sources">
          {sources.map((source) => (
            <li key={source.imageUrl}>
              <img src={source.preview} alt="" />
              <span class="clip" dir="auto">
                {source.name}
              </span>
              <Button
                text="Remove"
                class="small"
                aria-label={`Remove ${source.name}`}
                onClick={() => {
                  URL.revokeObjectURL(source.preview);
                  onChange(sources.filter((one) => one !== source));
                }}
              />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
