/** A button that reads a text in parts and saves it as one file. */
import { useState } from 'preact/hooks';
import { callForText } from '../../api/call.ts';
import { Refusal } from '../../api/refusal.ts';
import { announce } from '../../ui/announce.tsx';
import { Failed } from '../../ui/states.tsx';
import { download } from '../../words/download.ts';

export function Export({
  operation,
  query,
  file,
  label,
}: {
  operation: 'exportLedger' | 'exportUsage';
  query: Readonly<Record<string, string>>;
  file: string;
  label: string;
}) {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<Refusal>();
  const save = async (): Promise<void> => {
    setBusy(true);
    setError(undefined);
    try {
      download(file, await callForText(operation, { query }));
      announce(`Saved ${file}.`);
    } catch (failure) {
      setError(failure instanceof Refusal ? failure : new Refusal('PAGE', 'The file could not be saved.'));
    }
    setBusy(false);
  };
  return (
    <>
      <button type="button" aria-busy={isBusy} disabled={isBusy} onClick={() => void save()}>
        {isBusy ? 'Reading…' : label}
      </button>
      {error && <Failed error={error} />}
    </>
  );
}
