import type * as z from 'zod';
import { AwsError } from './aws-error.ts';

/** The AWS services that have a stand-in here. */
export type ServiceName = 'dynamodb' | 'states' | 'secretsmanager' | 's3' | 'lambda';

/** One call to AWS, as a service sees it. The protocol that carried the call no longer matters. */
export interface AwsCall {
  readonly service: ServiceName;
  /** The operation's name in the AWS API: `TransactWriteItems`, `PutObject`. */
  readonly operation: string;
  /** The access key id of the SigV4 credential. It is the logical id of a role, or `operator`. */
  readonly caller: string;
  /** The request's members, under the names of the AWS API reference. An S3 `Body` is a Uint8Array. */
  readonly input: Record<string, unknown>;
  /**
   * Set while the fault index-lag is on. A query on an index then sees the index as it was when the fault was
   * first seen.
   */
  readonly indexesLag?: true;
}

/** An answer's members, under the names of the AWS API reference. */
export type AwsOutput = Record<string, unknown>;

/** Answers one call. Throws AwsError for every refusal that AWS answers with an error of its own. */
export type AwsService = (call: AwsCall) => Promise<AwsOutput>;

/** The account of all local resources. Their region is `localRegion`. */
export const localAccount = '000000000000';
export const localRegion = 'us-east-1';
/** The secret key of every local caller. Presigned requests are signed with it. */
export const localSecretKey = 'local';

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
