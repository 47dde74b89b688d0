/** Results as files: their names, one download, and several in one archive. */
import { makeZip } from 'client-zip';
import type { CreationRow } from '../../../../service/contract/portal-views.ts';

export type Pictured = Pick<CreationRow, 'id' | 'prompt' | 'model' | 'cost' | 'created_at'> & {
  readonly picture: NonNullable<CreationRow['picture']>;
};

export const isPictured = <Row extends CreationRow>(row: Row): row is Row & Pictured => row.picture !== null;

const mostLetters = 48;

/** "2026-11-26-a-fox-asleep-in-fresh-snow-1760f6.png": the day, the prompt's first words, the end of the id. */
function fileName({ id, prompt, created_at: at, picture: { content_type: type } }: Pictured): string {
  const words = (prompt ?? '')
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^\p{Letter}\p{Number}]+/gu, '-')
    .replaceAll(/^-|-$/g, '');
  const ending = type === 'image/jpeg' ? 'jpg' : type.replace('image/', '');
  const first =
    words.length > mostLetters ? words.slice(0, mostLetters).replace(/-[^-]*$|\p{Surrogate}$/u, '') : words;
  const parts = [at.slice(0, 10), first, id.slice(-6)];
  return `${parts.filter((part) => part !== '').join('-')}.${ending}`;
}

/** The picture's bytes. Throws when the result has ended, or the connection broke. */
async function fetched({ picture: { url } }: Pictured, signal?: AbortSignal): Promise<Response> {
  const response = await fetch(url, { credentials: 'omit', ...(signal && { signal }) });
  if (!response.ok) throw new Error(`the picture was answered ${response.status}`);
  return response;
}

/** Hands bytes to the browser's downloads. */
function save(bytes: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(bytes);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** The picture as a file, for instance for an upload. */
export async function fileOf(row: Pictured): Promise<File> {
  return new File([await (await fetched(row)).blob()], fileName(row), { type: row.picture.content_type });
}

export async function download(row: Pictured): Promise<void> {
  save(await (await fetched(row)).blob(), fileName(row));
}

/** The part of the File System Access API that only Chromium has. */
interface Picker {
  showSaveFilePicker?(options: {
    readonly suggestedName: string;
  }): Promise<{ createWritable(): Promise<WritableStream<Uint8Array>> }>;
}

/**
 * One archive of all pictures. If the browser lets a page write a file, the pictures go one after the other
 * from the service into the file. Otherwise the browser collects the archive in memory.
 * @param onFile is called before each picture
 * @returns how many pictures are missing: their results have ended
 */
export async function downloadAll(
  rows: readonly Pictured[],
  onFile: (index: number) => void,
  signal: AbortSignal,
): Promise<number> {
  const name = `darkroom-${new Date().toISOString().slice(0, 10)}-${rows.length}-pictures.zip`;
  const handle = await (globalThis as Picker).showSaveFilePicker?.({ suggestedName: name });
  let missing = 0;
  const files = async function* (): AsyncGenerator<{ input: Response; name: string; lastModified: Date }> {
    for (const [index, row] of rows.entries()) {
      onFile(index);
      const input = await fetched(row, signal).catch((error: unknown) => {
        if (signal.aborted) throw error;
        missing += 1;
      });
      if (input) yield { input, name: fileName(row), lastModified: new Date(row.created_at) };
    }
  };
  const archive = makeZip(files());
  if (handle) await archive.pipeTo(await handle.createWritable(), { signal });
  else save(await new Response(archive).blob(), name);
  return missing;
}
