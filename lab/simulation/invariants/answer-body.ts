/** Reads JSON bodies: those of the API's answers and those of webhooks. */

/** The members of a JSON object. */
export type Body = Readonly<Record<string, unknown>>;

/** The body as an object. Empty when there is no body. */
export function bodyOf(text: string | undefined): Body {
  return asBody(JSON.parse(text ?? '{}')) ?? {};
}

/** The details of the error in an answer; undefined when the answer holds none. */
export function detailsOf(text: string | undefined): Body | undefined {
  return asBody(asBody(bodyOf(text)['error'])?.['details']);
}

/** A member that is a text; an empty text when it is anything else. */
export function textOf(body: Body, name: string): string {
  const value = body[name];
  return typeof value === 'string' ? value : '';
}

/** The value, when it is an object with members. */
export function asBody(value: unknown): Body | undefined {
  return isBody(value) ? value : undefined;
}

function isBody(value: unknown): value is Body {
  return typeof value === 'object' && value !== null;
}
