/** A dialog of the browser: it holds the focus, closes with Escape, and gives the focus back. */
import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';

export function Dialog({
  title,
  isLocked = false,
  onClose,
  children,
}: {
  title: string;
  /** True: Escape does not close it. */
  isLocked?: boolean;
  onClose: () => void;
  children: ComponentChildren;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    const opener = document.activeElement;
    const shown = dialog.current;
    shown?.showModal();
    return () => {
      shown?.close();
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        if (!isLocked) onClose();
      }}
      onKeyDown={(event) => {
        // A second Escape closes a dialog past its cancel event.
        if (event.key === 'Escape') {
          event.preventDefault();
          if (!isLocked) onClose();
        }
      }}
    >
      <header>
        <h2 id={id}>{title}</h2>
        {!isLocked && (
          <button type="button" class="quiet close" aria-label="Close" onClick={onClose}>
            ✕
          </button>
        )}
      </header>
      <div class="body">{children}</div>
    </dialog>
  );
}
