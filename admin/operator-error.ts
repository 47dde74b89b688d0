import type * as z from 'zod';

/** A command cannot do its work. The message is one sentence that says what to do instead. */
export class OperatorError extends Error {
  override readonly name = 'OperatorError';
  /** Further members of the JSON error, for programs. */
  readonly details: Readonly<Record<string, unknown>>;
  constructor(message: string, details: Readonly<Record<string, unknown>> = {}, options?: ErrorOptions) {
    super(message, options);
    this.details = details;
  }
}

/** A file has wrong fields. Each problem is one sentence that begins with the field. */
export class FileProblems extends OperatorError {
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(problems.length === 1 ? String(problems[0]) : `There are ${problems.length} problems.`, {
      problems,
    });
    this.problems = problems;
  }
}

/** The formats that have a name. A message about any other format shows its pattern. */
const formatText: Readonly<Record<string, string>> = {
  date: 'must be a date, such as 2027-05-21',
  url: 'must be an address, such as https://example.com/prices',
};

const typeText: Readonly<Record<string, string>> = {
  string: 'must be text in quotes',
  number: 'must be a number',
  int: 'must be a whole number',
  boolean: 'must be true or false',
  array: 'must be a list in [ ]',
  object: 'must be an object in { }',
};

/** The unit in which a range counts, by the type of the value. */
const unitText: Readonly<Record<string, string>> = { string: ' characters', array: ' items' };

/** Says what would be right instead of a wrong value, such as "must be a date, such as 2027-05-21". */
export function whatIsRight(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_format':
      return formatText[issue.format] ?? `must match ${issue.pattern ?? issue.format}`;
    case 'invalid_type':
      return typeText[issue.expected] ?? `must be ${issue.expected}`;
    case 'invalid_value':
      return `must be one of ${issue.values.map((value) => JSON.stringify(value)).join(', ')}`;
    case 'too_small':
      return rangeText(issue.origin, 'at least', issue.minimum);
    case 'too_big':
      return rangeText(issue.origin, 'at most', issue.maximum);
    default:
      return issue.message;
  }
}

function rangeText(origin: string, bound: string, limit: number | bigint): string {
  const unit = unitText[origin];
  if (unit !== undefined && bound === 'at least' && limit === 1) return 'must not be empty';
  return unit === undefined ? `must be ${bound} ${limit}` : `must have ${bound} ${limit}${unit}`;
}
