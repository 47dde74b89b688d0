/** Files of the pages that are loaded after the first page, for those who need them. */
import { useEffect, useState } from 'preact/hooks';
import { Refusal } from './api/call.ts';

export interface Later<File> {
  readonly load: () => Promise<File>;
  /** Undefined: it is loading. */
  readonly useFile: () => File | Refusal | undefined;
}

export function later<File extends object>(fetchFile: () => Promise<File>): Later<File> {
  let loaded: File | undefined;
  const load = async (): Promise<File> => {
    loaded = await fetchFile();
    return loaded;
  };
  const useFile = (): File | Refusal | undefined => {
    const [file, setFile] = useState<File | Refusal | undefined>(loaded);
    useEffect(() => {
      // A release has replaced the file since this page was loaded, or there is no connection.
      const failed = 'This part of the portal could not be loaded. Reload the page.';
      if (!file) load().then(setFile, () => setFile(new Refusal('PAGE', failed)));
    }, [file]);
    return file;
  };
  return { load, useFile };
}
