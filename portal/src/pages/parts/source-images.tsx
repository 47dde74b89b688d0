/** Source images: the bytes go straight to the bucket, by an address that the service signs. */
import { useState } from 'preact/hooks';
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

async function upload(file: File): Promise<Source> {
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

export function SourceImages(props: {
  sources: readonly Source[];
  most: number;
  pricePerImage: number;
  onChange: (sources: readonly Source[]) => void;
}) {
  const { sources, most, pricePerImage, onChange } = props;
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<Refusal>();
  const add = async (input: HTMLInputElement): Promise<void> => {
    const files = [...(input.files ?? [])].slice(0, most - sources.length);
    setBusy(true);
    setError(undefined);
    const added: Source[] = [];
    try {
      for (const file of files) added.push(await upload(file));
    } catch (failure) {
      setError(failure instanceof Refusal ? failure : new Refusal('PAGE', 'The image could not be read.'));
    }
    input.value = '';
    setBusy(false);
    if (added.length > 0) onChange([...sources, ...added]);
  };
  return (
    <div>
      <Field
        label="Source images"
        hint={
          <>
            PNG, JPEG or WebP, at most {most}. Each adds <Money of={pricePerImage} />.
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
            onChange={(event) => void add(event.currentTarget)}
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
              <span class="clip">{source.name}</span>
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
