import type { ServerResponse } from 'node:http';

/**
 * Sends a self-contained page. It may load only pictures from other addresses.
 * @param forms where forms of the page may lead, as a content security policy has it
 */
export function sendPage(outgoing: ServerResponse, page: string, forms = "'none'"): void {
  outgoing.writeHead(200, {
    'content-type': 'text/html; charset=utf-8',
    'content-length': Buffer.byteLength(page),
    // The text of a webhook comes from a stranger. No part of it may run or load anything.
    'content-security-policy': `default-src 'none'; img-src http: https:; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; base-uri 'none'; form-action ${forms}`,
  });
  outgoing.end(page);
}

export const look = `
  :root { color-scheme: dark; --paper: #f3ece4; --dim: #a08f86; --lamp: #ff5a45; --edge: #3b2320; }
  * { box-sizing: border-box; }
  body { margin: 0; min-height: 100vh; padding: 3rem 1.5rem; color: var(--paper); font: 15px/1.5 ui-sans-serif, system-ui, sans-serif;
    background: radial-gradient(60rem 30rem at 50% -8rem, #5a1712 0, transparent 70%), #120b0a; }
  h1 { margin: 0; font-size: 1.5rem; letter-spacing: .02em; }
  h1::before { content: ''; display: inline-block; width: .6rem; height: .6rem; margin-right: .6rem; border-radius: 50%; background: var(--lamp); box-shadow: 0 0 1rem var(--lamp); }
  .dim { color: var(--dim); }
`;

/** A page with its title as a heading. @param main HTML */
export function titledPage(title: string, style: string, main: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title><style>${look}${style}</style></head>
<body><main><h1>${title}</h1>
${main}
</main></body></html>
`;
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text that cannot become a part of the page. */
export function escape(text: string): string {
  return text.replace(/[&<>"']/g, (one) => entities[one] ?? one);
}
