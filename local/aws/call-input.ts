import type * as z from 'zod';
import type { AwsCall } from './aws-call.ts';
import { AwsError } from './aws-error.ts';

/** The call's input as the schema describes it. Throws ValidationException naming the first member that is wrong. */
export function parseInput<Schema extends z.ZodType>(schema: Schema, call: AwsCall): z.output<Schema> {
  const parsed = schema.safeParse(call.input);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const member = issue?.path.join('.') ?? '';
  throw new AwsError(
    'ValidationException',
    `${call.operation}: ${member === '' ? 'input' : member}: ${issue?.message ?? 'invalid'}`,
  );
}

/** Refuses an operation that the stand-in does not have. */
export function unknownOperation(call: AwsCall): AwsError {
  return new AwsError(
    'UnknownOperationException',
    `the local ${call.service} has no operation ${call.operation}`,
  );
}
