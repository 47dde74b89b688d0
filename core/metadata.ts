/**
 * The metadata of a request: names and values of the client's own, kept as they came.
 * A name may be anything that an object of JavaScript has already (constructor, __proto__),
 * so nothing here assigns to a name or reads one that is not the object's own.
 */
import type { FieldError } from './problem.ts';

export type Metadata = Readonly<Record<string, string>>;

const mostKeys = 16;
const mostKeyLength = 40;
const mostValueLength = 500;

/** A problem of metadata, and the name that has it; no name: the problem is of metadata as a whole. */
export interface MetadataProblem extends Omit<FieldError, 'field'> {
  readonly name?: string;
}

/** Half of a surrogate pair has no form in UTF-8: it could not be given back as it came. */
export const loneSurrogate = {
  code: 'invalid_encoding',
  message: 'must not contain half of a surrogate pair',
} as const;

/** What is wrong with a value that stands in the place of metadata, one problem a name. */
export function metadataProblems(value: unknown): readonly MetadataProblem[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return [{ code: 'invalid_type', message: 'must be an object' }];
  }
  const entries = Object.entries(value);
  const tooMany = { code: 'too_many', message: `at most ${mostKeys} keys` };
  return [...(entries.length > mostKeys ? [tooMany] : []), ...entries.flatMap(entryProblem)];
}

function entryProblem([name, value]: [string, unknown]): MetadataProblem[] {
  if (name === '') return [{ code: 'too_short', message: 'a key must not be empty' }];
  if (!name.isWellFormed())
    return [{ name, ...loneSurrogate, message: 'a key must not contain half of a surrogate pair' }];
  if (name.length > mostKeyLength)
    return [{ name, code: 'too_long', message: `at most ${mostKeyLength} characters` }];
  if (typeof value !== 'string') return [{ name, code: 'invalid_type', message: 'must be a string' }];
  if (value.length > mostValueLength)
    return [{ name, code: 'too_long', message: `at most ${mostValueLength} characters` }];
  return value.isWellFormed() ? [] : [{ name, ...loneSurrogate }];
}
