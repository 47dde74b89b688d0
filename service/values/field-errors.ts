import type * as z from 'zod';
import type { FieldError } from './problem.ts';

type Issue = z.core.$ZodIssue;

/** A place in a body in the notation of the API: image_urls[0], metadata.order. */
function fieldAt(path: readonly PropertyKey[]): string {
  if (path.length === 0) return 'body';
  return (
    path
      .map((step, index) =>
        typeof step === 'number' ? `[${step}]` : `${index === 0 ? '' : '.'}${String(step)}`,
      )
      .join('')
      // A key may hold half of a surrogate pair, which UTF-8 cannot express.
      .toWellFormed()
  );
}

function isMissing(issue: Issue): boolean {
  return (issue.code === 'invalid_type' || issue.code === 'invalid_value') && issue.input === undefined;
}

function describe(issue: Issue): { code: string; message: string } {
  switch (issue.code) {
    case 'invalid_type':
      return isMissing(issue)
        ? { code: 'required', message: 'required' }
        : { code: 'invalid_type', message: `must be ${article(issue.expected)}` };
    case 'too_big':
      return {
        code: issue.origin === 'string' ? 'too_long' : issue.origin === 'array' ? 'too_many' : 'too_big',
        message: limit('at most', issue.maximum, issue.origin),
      };
    case 'too_small':
      return {
        code: issue.origin === 'string' ? 'too_short' : 'too_small',
        message: limit('at least', issue.minimum, issue.origin),
      };
    case 'invalid_value':
      if (isMissing(issue)) return { code: 'required', message: 'required' };
      return {
        code: 'invalid_value',
        message: `must be one of ${issue.values.map((value) => JSON.stringify(value)).join(', ')}`,
      };
    case 'custom':
      return { code: String(issue.params?.['code'] ?? 'invalid'), message: issue.message };
    default:
      return { code: 'invalid', message: issue.message };
  }
}

function limit(bound: string, value: number | bigint, origin: string): string {
  const unit = origin === 'string' ? ' characters' : origin === 'array' ? ' items' : '';
  return `${bound} ${value}${unit}`;
}

function article(type: string): string {
  return `${/^[aeio]/.test(type) ? 'an' : 'a'} ${type}`;
}

/** The items of details.errors for the issues of zod, in the order of the body. */
export function fieldErrors(issues: readonly Issue[]): FieldError[] {
  return onePerField(issues.flatMap(errorsOf));
}

/**
 * Keeps the first error of each field. After a wrong type zod checks on: for example, it
 * measures the length of a text that was sent instead of a list. Such errors mislead.
 */
export function onePerField(errors: readonly FieldError[]): FieldError[] {
  const firsts = new Map<string, FieldError>();
  for (const error of errors) if (!firsts.has(error.field)) firsts.set(error.field, error);
  return [...firsts.values()];
}

function errorsOf(issue: Issue): FieldError[] {
  if (issue.code !== 'unrecognized_keys') return [{ field: fieldAt(issue.path), ...describe(issue) }];
  return issue.keys.map((key) => ({
    field: fieldAt([...issue.path, key]),
    code: 'unknown_field',
    message: 'not a field of this request',
  }));
}
