/** Why docs/openapi.json refuses a request. It must refuse nothing that the API accepts. */
import { operationAt, type OperationAt } from './operation-at.ts';
import { pointerOf, wrongBy, type Parameter } from './schema-of.ts';

export interface SentRequest {
  readonly method: string;
  /** With the API's root, and perhaps with a query. */
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body as it is sent; undefined for a request without one. */
  readonly text: string | undefined;
}

/** Every finding. Empty when the document takes the request. */
export function refusedByDocument({ method, path, headers, text }: SentRequest): string[] {
  const found = operationAt(method, path);
  if (!found) return [`${method} ${path} is no documented operation`];
  const { operation, at } = found;
  const known = operation.parameters.filter((one) => one.in === 'query').map(({ name }) => name);
  const unknown = [...found.query.keys()].filter((name) => !known.includes(name));
  const wrong = operation.parameters.flatMap((parameter, index) => {
    const value = valueOf(parameter, found, headers);
    if (value === undefined) return parameter.required ? [`${parameter.name} is missing`] : [];
    const isNumber = parameter.schema['type'] === 'integer';
    const pointer = pointerOf(...at, 'parameters', String(index), 'schema');
    return wrongBy(pointer, isNumber ? Number(value) : value).map((why) => `${parameter.name}: ${why}`);
  });
  const body = operation.requestBody
    ? wrongBy(
        pointerOf(...at, 'requestBody', 'content', 'application/json', 'schema'),
        JSON.parse(text ?? ''),
      )
    : [];
  return [...unknown.map((name) => `the parameter ${name} is not documented`), ...wrong, ...body].map(
    (finding) => `${method} ${path}: the document refuses what the API accepts: ${finding}`,
  );
}

function valueOf(
  { in: place, name }: Parameter,
  { path, query }: OperationAt,
  headers: SentRequest['headers'],
): string | undefined {
  if (place === 'path') return path.get(name);
  return place === 'query' ? query.get(name) : headers[name.toLowerCase()];
}
