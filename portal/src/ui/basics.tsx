/** Small parts: amounts, times, states, copy. */
import type { ComponentChildren, ComponentProps } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { useNow } from '../api/hooks.ts';
import { fullText, money, movement, relativeText, shortText, utcText } from '../words/figures.ts';
import { announce } from './page.tsx';

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
    <Button
      text={isCopied ? 'Copied' : 'Copy'}
      class="small copy"
      aria-label={`Copy ${label}`}
      onClick={() => void copy()}
    />
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
    <span class="clip" dir="auto" title={text}>
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

/** Names and their values. A row that is false is left out. */
export function Facts({
  rows,
  across,
}: {
  rows: readonly (false | readonly [name: string, value: ComponentChildren])[];
  across?: boolean;
}) {
  return (
    <dl class={across === true ? 'facts across' : 'facts'}>
      {rows.map(
        (row) =>
          row && (
            <div key={row[0]}>
              <dt>{row[0]}</dt>
              <dd>{row[1]}</dd>
            </div>
          ),
      )}
    </dl>
  );
}

/** The figures on top of a page, each with its name, and a note below it. */
export function Figures({
  rows,
}: {
  rows: readonly (readonly [name: string, value: ComponentChildren, note?: ComponentChildren])[];
}) {
  return (
    <dl class="figures">
      {rows.map(([name, value, note]) => (
        <div key={name} class="figure">
          <dt>{name}</dt>
          <dd>{value}</dd>
          {note !== undefined && <dd class="note">{note}</dd>}
        </div>
      ))}
    </dl>
  );
}

type Button = Omit<ComponentProps<'button'>, 'type' | 'children'> & {
  text: ComponentChildren;
  /** True: its action is on the way. */
  isBusy?: boolean;
};

export function Button({ text, isBusy, ...attributes }: Button) {
  return (
    <button type="button" {...(isBusy !== undefined && { 'aria-busy': isBusy })} {...attributes}>
      {text}
    </button>
  );
}

export function Card(props: {
  title?: string | undefined;
  actions?: ComponentChildren;
  children: ComponentChildren;
  id?: string;
}) {
  const { title, actions, children, id } = props;
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

/** Line icons of 16 by 16, beside words. They are hidden from screen readers. */
const paths = {
  home: 'M2.5 7 8 2.5 13.5 7v6.5h-4v-4h-3v4h-4z',
  spark: 'M8 2v4M8 10v4M2 8h4M10 8h4M4.5 4.5l1.5 1.5M10 10l1.5 1.5M11.5 4.5 10 6M6 10l-1.5 1.5',
  image: 'M2.5 3.5h11v9h-11zM2.5 10.5l3-3 3 3 2-2 3 3M10.5 6h.01',
  key: 'M7.5 8.5 13 3M11 5l1.5 1.5M5.5 13a3 3 0 1 0 0-6 3 3 0 0 0 0 6z',
  hook: 'M8 2.5v6M8 8.5a2.5 2.5 0 1 1-4 2M8 2.5a2 2 0 1 1 .01 0M8 8.5h3.5a2 2 0 1 1-1.5 3',
  send: 'M14 2 7 9M14 2 9.5 14 7 9 2 6.5z',
  wallet: 'M2.5 4.5h11v8h-11zM2.5 4.5l8-2v2M11 8.5h.01',
  bars: 'M3 13.5v-5M6.5 13.5v-9M10 13.5v-6M13.5 13.5v-11',
  people:
    'M6 8a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM1.5 13.5c0-5 9-5 9 0M11 3.5a2.3 2.3 0 0 1 0 4.3M12 9.7c1.6.5 2.5 1.8 2.5 3.8',
  list: 'M5.5 4h8M5.5 8h8M5.5 12h8M2.5 4h.01M2.5 8h.01M2.5 12h.01',
  gear: 'M2 4.5h6M12 4.5h2M10 3v3M2 11.5h2M8 11.5h6M6 10v3',
  book: 'M8 4c-1.500-1-3.500-1-5.500-.5v9c2-.5 4-.5 5.500.5M8 4c1.500-1 3.500-1 5.500-.5v9c-2-.5-4-.5-5.500.5M8 4v9',
  building: 'M3.5 13.5v-11h9v11M2 13.5h12M6 5.5h1M9 5.5h1M6 8.5h1M9 8.5h1M7 13.5v-2.500h2v2.500',
  pulse: 'M1.500 8h3l2-5 3 10 2-5h3',
  menu: 'M2.500 4h11M2.500 8h11M2.500 12h11',
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">
      <path d={paths[name]} />
    </svg>
  );
}
