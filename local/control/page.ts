import type { ServerResponse } from 'node:http';

/** Sends a self-contained page: nothing of it may load from elsewhere but pictures. */
export function sendPage(outgoing: ServerResponse, page: string): void {
  outgoing.writeHead(200, {
    'content-type': 'text/html; charset=utf-8',
    'content-length': Buffer.byteLength(page),
    // What a webhook says is a stranger's: nothing of it may run or load from elsewhere.
    'content-security-policy':
      "default-src 'none'; img-src http: https:; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; base-uri 'none'; form-action 'none'",
  });
  outgoing.end(page);
}
