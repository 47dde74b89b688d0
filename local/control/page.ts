import type { ServerResponse } from 'node:http';

/** Sends a self-contained page. It may load only pictures from other addresses. */
export function sendPage(outgoing: ServerResponse, page: string): void {
  outgoing.writeHead(200, {
    'content-type': 'text/html; charset=utf-8',
    'content-length': Buffer.byteLength(page),
    // The text of a webhook comes from a stranger. No part of it may run or load anything.
    'content-security-policy':
      "default-src 'none'; img-src http: https:; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; base-uri 'none'; form-action 'none'",
  });
  outgoing.end(page);
}
