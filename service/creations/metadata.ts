/**
 * The metadata of a request: names and values that the client chooses, stored unchanged.
 * A name may be one that every JavaScript object has (constructor, __proto__). So this code
 * never assigns to a name, and reads own properties only.
 */
import type { FieldError } from '../values/problem.ts';
import { characters, loneSurrogate } from '../values/text.ts';

export type Metadata = Readonly<Record<string, string>>;

const mostKeys = 16;
/** In code points. */
const mostKeyLength = 40;
/** In code points. */
const mostValueLength = 500;

/** A problem of the metadata. `name` is the key that has the problem; absent for a problem of the whole. */
export interface MetadataProblem extends Omit<FieldError, 'field'> {
  readonly name?: string;
}

/**
 * The problems of a value that was sent as metadata: at most one for each key, and one for the number of
 * keys.
 */
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
  if (characters(name) > mostKeyLength)
    return [{ name, code: 'too_long', message: `at most ${mostKeyLength} characters` }];
  if (typeof value !== 'string') return [{ name, code: 'invalid_type', message: 'must be a string' }];
  if (characters(value) > mostValueLength)
    return [{ name, code: 'too_long', message: `at most ${mostValueLength} characters` }];
  return value.isWellFormed() ? [] : [{ name, ...loneSurrogate }];
}
