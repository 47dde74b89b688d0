/** A button that reads a text in parts and saves it as one file. */
import { useState } from 'preact/hooks';
import { callForText, Refusal } from '../../api/call.ts';
import { announce } from '../../ui/page.tsx';
import { Failed } from '../../ui/states.tsx';
import { Button } from '../../ui/basics.tsx';

/** Saves a text as a file, by the browser. */
export function download(name: string, text: string, type: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The browser reads the address after the click has returned.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

export function Export(props: {
  operation: 'exportLedger' | 'exportUsage';
  query: Readonly<Record<string, string>>;
  file: string;
  label: string;
  isSmall?: boolean;
}) {
  const { operation, query, file, label, isSmall } = props;
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<Refusal>();
  const save = async (): Promise<void> => {
    setBusy(true);
    setError(undefined);
    try {
      download(file, await callForText(operation, { query }), 'text/csv;charset=utf-8');
      announce(`Saved ${file}.`);
    } catch (failure) {
      setError(failure instanceof Refusal ? failure : new Refusal('PAGE', 'The file could not be saved.'));
    }
    setBusy(false);
  };
  return (
    <>
      <Button
        text={isBusy ? 'Reading…' : label}
        class={isSmall === true ? 'small' : ''}
        isBusy={isBusy}
        disabled={isBusy}
        onClick={() => void save()}
      />
      {error && <Failed error={error} />}
    </>
  );
}
