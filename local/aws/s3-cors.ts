/** What S3 tells a browser about requests from other origins, by the rules of the bucket. */
import type { IncomingMessage, ServerResponse } from 'node:http';

/** One rule of a bucket, as the template has it. `*` in an origin or a header stands for any text. */
export interface CorsRule {
  readonly methods: readonly string[];
  readonly origins: readonly string[];
  readonly headers: readonly string[];
  readonly maxAgeSeconds?: number | undefined;
}

/** The rules of a bucket. A bucket without rules has an empty list. */
export type CorsRules = (bucket: string) => readonly CorsRule[];

/**
 * Answers a preflight request. Returns false for every other request; then the answer has gotten the headers
 * by which a page of an allowed origin may read it.
 */
export function answersCors(request: IncomingMessage, response: ServerResponse, rulesOf: CorsRules): boolean {
  const { origin } = request.headers;
  if (origin === undefined) return false;
  const isPreflight = request.method === 'OPTIONS';
  const method = isPreflight ? header(request, 'access-control-request-method') : (request.method ?? '');
  const asked = isPreflight ? list(header(request, 'access-control-request-headers')) : [];
  const bucket = decodeURIComponent((request.url ?? '').split('?', 1)[0]?.split('/')[1] ?? '');
  const rule = rulesOf(bucket).find(
    ({ methods, origins, headers }) =>
      methods.includes(method) &&
      origins.some((pattern) => fits(pattern, origin)) &&
      asked.every((name) => headers.some((pattern) => fits(pattern.toLowerCase(), name))),
  );
  if (rule) {
    response.setHeader('access-control-allow-origin', rule.origins.includes('*') ? '*' : origin);
    response.setHeader('access-control-allow-methods', rule.methods.join(', '));
    response.setHeader('vary', 'Origin, Access-Control-Request-Headers, Access-Control-Request-Method');
  }
  if (!isPreflight) return false;
  request.resume();
  if (rule) {
    if (asked.length > 0) response.setHeader('access-control-allow-headers', asked.join(', '));
    if (rule.maxAgeSeconds !== undefined) response.setHeader('access-control-max-age', rule.maxAgeSeconds);
    response.writeHead(200).end();
  } else {
    response.writeHead(403, { 'content-type': 'application/xml' });
    response.end(
      '<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>AccessForbidden</Code><Message>CORSResponse: This CORS request is not allowed. This is usually because the evalution of Origin, request method / Access-Control-Request-Method or Access-Control-Request-Headers are not whitelisted by the resource\'s CORS spec.</Message></Error>',
    );
  }
  return true;
}

function header({ headers }: IncomingMessage, name: string): string {
  const value = headers[name];
  return typeof value === 'string' ? value : '';
}

function list(text: string): string[] {
  return text
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '');
}

/** S3 allows one `*` in an origin or a header. */
function fits(pattern: string, text: string): boolean {
  const [before = '', after] = pattern.split('*', 2);
  if (after === undefined) return pattern === text;
  return text.length >= before.length + after.length && text.startsWith(before) && text.endsWith(after);
}
