/** What a delivery (a webhook or a notice) has that docs/openapi.json does not say, or lacks. */
import { openApiFile, pointerOf, wrongBy } from './schema-of.ts';

export interface SentDelivery {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Headers of HTTP, which the document does not name. */
const transport: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'connection',
  'content-length',
  'content-type',
  'host',
  'transfer-encoding',
]);

/** Every way in which the delivery differs from the document. Empty when it is as documented. */
export function undocumentedDelivery({ headers, body }: SentDelivery): string[] {
  const kind = headers['x-webhook-event'] ?? headers['x-darkroom-notice'] ?? '';
  const documented = openApiFile.webhooks[kind]?.post.parameters;
  if (!documented) return [`the delivery ${JSON.stringify(kind)} is not documented`];
  const at = ['webhooks', kind, 'post'];
  const wrongHeaders = documented.flatMap(({ name, required }, index) => {
    const value = headers[name.toLowerCase()];
    if (value === undefined) return required ? [`the header ${name} is missing`] : [];
    return wrongBy(pointerOf(...at, 'parameters', String(index), 'schema'), value).map(
      (finding) => `the header ${name}: ${finding}`,
    );
  });
  const known = new Set(documented.map(({ name }) => name.toLowerCase()));
  const unknown = Object.keys(headers).filter((name) => !transport.has(name) && !known.has(name));
  return [
    ...wrongHeaders,
    ...unknown.map((name) => `the header ${name} is not documented`),
    ...wrongBy(pointerOf(...at, 'requestBody', 'content', 'application/json', 'schema'), JSON.parse(body)),
  ].map((finding) => `${kind}: ${finding}: ${body}`);
}
