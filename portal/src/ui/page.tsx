/**
 * The parts around pages: the frame with the heading, which gets the focus, dialogs, tabs, and announcements.
 */
import type { ComponentChildren, RefObject } from 'preact';
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { createValue, useValue } from '../value.ts';

let isFirst = true;

export function Page(props: {
  title: string;
  above?: ComponentChildren;
  lead?: ComponentChildren;
  actions?: ComponentChildren;
  children: ComponentChildren;
}) {
  const { title, above, lead, actions, children } = props;
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => {
    if (!isFirst) heading.current?.focus({ preventScroll: true });
    isFirst = false;
  }, []);
  useLayoutEffect(() => {
    document.title = `${title} · Darkroom`;
  }, [title]);
  return (
    <>
      <div class="page-head">
        <div>
          {above !== undefined && <p class="above">{above}</p>}
          <h1 ref={heading} tabIndex={-1} dir="auto">
            {title}
          </h1>
          {lead !== undefined && <p class="lead">{lead}</p>}
        </div>
        {actions !== undefined && <div class="actions">{actions}</div>}
      </div>
      {children}
    </>
  );
}

/** One region of the page announces results, for screens and for screen readers. */
const message = createValue('');
const shownMillis = 6000;

/** Announces a result in one short sentence. */
export const announce = (text: string): void => message.set(text);

export function Announcements() {
  const text = useValue(message);
  useEffect(() => {
    if (text === '') return;
    const timer = setTimeout(() => message.set(''), shownMillis);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <div class={text === '' ? 'toast' : 'toast shown'} role="status">
      {text}
    </div>
  );
}

/** Opens the dialog over the page. Its end gives the focus back. */
function useModal(): RefObject<HTMLDialogElement | null> {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const opener = document.activeElement;
    const shown = dialog.current;
    shown?.showModal();
    return () => {
      shown?.close();
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus({ preventScroll: true });
    };
  }, []);
  return dialog;
}

/** A dialog of the browser: it holds the focus, closes with Escape, and restores the focus. */
export function Dialog(props: {
  title: string;
  /** True: Escape does not close it. */
  isLocked?: boolean;
  onClose: () => void;
  children: ComponentChildren;
}) {
  const { title, isLocked = false, onClose, children } = props;
  const dialog = useModal();
  const id = useId();
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

/** A dialog of the browser without a frame. The way back and Escape close it. */
export function Cover(props: {
  label: string;
  class: string;
  onClose: () => void;
  onKey?: (key: string) => void;
  children: ComponentChildren;
}) {
  const { label, onClose, onKey, children } = props;
  const dialog = useModal();
  return (
    <dialog
      ref={dialog}
      class={`cover ${props.class}`}
      aria-label={label}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onKeyDown={(event) => {
        if (event.metaKey || event.ctrlKey || event.altKey) return;
        if (event.key === 'Escape') {
          event.preventDefault();
          onClose();
        } else onKey?.(event.key);
      }}
    >
      {children}
    </dialog>
  );
}

/** Tabs, by the keyboard pattern of ARIA: arrows change the tab. */
export interface Tab {
  readonly name: string;
  readonly content: ComponentChildren;
}

export function Tabs({ label, tabs }: { label: string; tabs: readonly Tab[] }) {
  const [chosen, setChosen] = useState(0);
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const choose = (index: number): void => {
    const next = (index + tabs.length) % tabs.length;
    setChosen(next);
    list.current?.querySelectorAll<HTMLElement>('[role=tab]')[next]?.focus();
  };
  return (
    <div class="tabs">
      <div
        role="tablist"
        aria-label={label}
        ref={list}
        onKeyDown={(event) => {
          if (event.key === 'ArrowRight') choose(chosen + 1);
          if (event.key === 'ArrowLeft') choose(chosen - 1);
        }}
      >
        {tabs.map(({ name }, index) => (
          <button
            type="button"
            key={name}
            role="tab"
            id={`${id}-${index}`}
            aria-selected={index === chosen}
            aria-controls={`${id}-panel`}
            tabIndex={index === chosen ? 0 : -1}
            onClick={() => setChosen(index)}
          >
            {name}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${chosen}`}>
        {tabs[chosen]?.content}
      </div>
    </div>
  );
}
