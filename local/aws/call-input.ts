import type * as z from 'zod';
import type { AwsCall } from './aws-call.ts';
import { AwsError } from './aws-error.ts';

/** Reads the call's input with the schema. Throws ValidationException, which names the first wrong member. */
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

/** The refusal of an operation that the stand-in does not have. */
export function unknownOperation(call: AwsCall): AwsError {
  return new AwsError(
    'UnknownOperationException',
    `the local ${call.service} has no operation ${call.operation}`,
  );
}
