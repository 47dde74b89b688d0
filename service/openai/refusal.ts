/** Refusals in the form of the OpenAI API. */
import { type FieldError, Problem } from '../values/problem.ts';
import { type ErrorCode, errorRows, problemRows } from './error-table.ts';

/**
 * A refusal that only this endpoint makes. It is a Problem, so that the request takes its place in the rate as
 * after every other refusal.
 */
export class OpenaiRefusal extends Problem {
  readonly errorCode: ErrorCode;
  readonly param: string | null;
  constructor(errorCode: ErrorCode, message: string, more: More = {}) {
    super('ERR_INVALID_REQUEST', message, more.details ?? {}, more.headers ?? {});
    this.errorCode = errorCode;
    this.param = more.param ?? null;
  }

  override get status(): number {
    return errorRows[this.errorCode].status;
  }
}

interface More {
  readonly details?: Problem['details'];
  readonly headers?: Problem['headers'];
  readonly param?: string;
}

/** The error member of an answer. */
export interface OpenaiError {
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  readonly code: ErrorCode;
  readonly details: Problem['details'];
}

export interface Refused {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly error: OpenaiError;
}

/** What the client gets of a refusal. */
export function refusedBy(problem: Problem): Refused {
  const errors = fieldErrorsOf(problem);
  const code = codeOf(problem, errors);
  const { status, type, retry } = errorRows[code];
  return {
    status,
    headers: {
      ...problem.headers,
      ...(status === 401 && { 'www-authenticate': 'Bearer' }),
      // A refusal that knows better than its row says so in details.retryable.
      'x-should-retry': String(retry && problem.details['retryable'] !== false),
    },
    error: {
      message: messageOf(problem, errors),
      type,
      param: paramOf(problem, errors),
      code,
      details: errors.length > 0 ? { ...problem.details, errors } : problem.details,
    },
  };
}

function codeOf(problem: Problem, [first]: readonly FieldError[]): ErrorCode {
  if (problem instanceof OpenaiRefusal) return problem.errorCode;
  if (first?.code === 'unsupported_value' || first?.code === 'unsupported_parameter') return first.code;
  // A model that does not write the format.
  if (first?.field === 'output_format' && first.code === 'invalid_value') return 'unsupported_value';
  const { code, reasons } = problemRows[problem.code];
  return reasons?.[String(problem.details['reason'])] ?? code;
}

function paramOf(problem: Problem, [first]: readonly FieldError[]): string | null {
  if (problem instanceof OpenaiRefusal) return problem.param;
  if (first === undefined || first.field === 'body') return problemRows[problem.code].param ?? null;
  return first.field.replace(/[[.].*$/s, '');
}

/** The wrong fields under the names that this endpoint gives them. */
function fieldErrorsOf({ details: { errors } }: Problem): readonly FieldError[] {
  const list = Array.isArray(errors) ? (errors as readonly FieldError[]) : [];
  return list.map((error) => ({ ...error, field: foreignName(error) }));
}

function messageOf({ message, details }: Problem, [first]: readonly FieldError[]): string {
  const own = (details['errors'] as readonly FieldError[] | undefined)?.[0]?.field;
  if (own === undefined || first === undefined || !message.startsWith(`${own}:`)) return message;
  return `${first.field}${message.slice(own.length)}`;
}

/** A client of this endpoint has sent no image_urls, unless this very name was refused. */
function foreignName({ field, code }: FieldError): string {
  return code === 'unsupported_parameter' ? field : field.replace(/^image_urls/, 'image');
}
