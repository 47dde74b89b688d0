/** Small parts: amounts, times, states, copy. */
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { useNow } from '../api/hooks.ts';
import { money, movement } from '../words/money.ts';
import { fullText, relativeText, shortText, utcText } from '../words/time.ts';
import { announce } from './announce.tsx';

export function Money({ of, digits, signed }: { of: number; digits?: number; signed?: boolean }) {
  return <span class="money">{signed === true ? movement(of, digits) : money(of, digits)}</span>;
}

/** A moment. The title has it in UTC. */
export function Time({ at, form = 'short' }: { at: string; form?: 'short' | 'full' | 'relative' }) {
  const now = useNow(form === 'relative' ? 15_000 : 3_600_000);
  const text = form === 'relative' ? relativeText(at, now) : form === 'full' ? fullText(at) : shortText(at);
  return (
    <time dateTime={at} title={utcText(at)}>
      {text}
    </time>
  );
}

export type Tone = 'good' | 'bad' | 'warn' | 'calm' | 'busy';

export function Badge({ tone, children }: { tone: Tone; children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>;
}

/** A share as a bar, with its words beside it. */
export function Meter({ share, label, isGood }: { share: number; label: string; isGood?: boolean }) {
  // A value near a cap is a warning. A success rate near 100 % is not.
  const tone = isGood === true ? 'good' : share >= 1 ? 'full' : share >= 0.8 ? 'near' : '';
  return (
    <div class={`meter ${tone}`} role="img" aria-label={label}>
      <div style={{ width: `${Math.min(100, Math.max(0, share * 100))}%` }} />
    </div>
  );
}

export function Copy({ text, label }: { text: string; label: string }) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), 2000);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
      announce(`Copied: ${label}.`);
    } catch {
      announce('Your browser does not let the page copy. Select the text and copy it.');
    }
  };
  return (
    <button type="button" class="small copy" aria-label={`Copy ${label}`} onClick={() => void copy()}>
      {isCopied ? 'Copied' : 'Copy'}
    </button>
  );
}

/** An id, cut in the middle when it is long, with its copy button. */
export function Id({ of, label, plain }: { of: string; label: string; plain?: boolean }) {
  const text = of.length > 20 ? `${of.slice(0, 8)}…${of.slice(-6)}` : of;
  return (
    <span class="id">
      <code title={of}>{text}</code>
      {plain !== true && <Copy text={of} label={label} />}
    </span>
  );
}

/** A text of a person or a client: cut to its column, and whole in its title. */
export function Clip({ text }: { text: string }) {
  return (
    <span class="clip" title={text}>
      {text}
    </span>
  );
}

/** A text as it is, to read and to copy. */
export function Code({ text, label }: { text: string; label: string }) {
  return (
    <div class="code">
      <pre tabIndex={0} role="region" aria-label={label}>
        <code>{text}</code>
      </pre>
      <Copy text={text} label={label} />
    </div>
  );
}

/** Names and their values. */
export function Facts({ children, across }: { children: ComponentChildren; across?: boolean }) {
  return <dl class={across === true ? 'facts across' : 'facts'}>{children}</dl>;
}

export function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** A figure on top of a page. */
export function Figure({
  name,
  children,
  note,
}: {
  name: string;
  children: ComponentChildren;
  note?: ComponentChildren;
}) {
  return (
    <div class="figure">
      <dt>{name}</dt>
      <dd>{children}</dd>
      {note !== undefined && <dd class="note">{note}</dd>}
    </div>
  );
}

export function Card({
  title,
  actions,
  children,
  id,
}: {
  title?: string | undefined;
  actions?: ComponentChildren;
  children: ComponentChildren;
  id?: string;
}) {
  return (
    <section class="card" id={id}>
      {title !== undefined && (
        <header>
          <h2>{title}</h2>
          {actions !== undefined && <div class="actions">{actions}</div>}
        </header>
      )}
      {children}
    </section>
  );
}
