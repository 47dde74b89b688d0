/** The frame of a page: its heading gets the focus when the page changes. */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

let isFirst = true;

export function Page({
  title,
  above,
  lead,
  actions,
  children,
}: {
  title: string;
  above?: ComponentChildren;
  lead?: ComponentChildren;
  actions?: ComponentChildren;
  children: ComponentChildren;
}) {
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
          <h1 ref={heading} tabIndex={-1}>
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
