import type * as z from 'zod';
import { AwsError } from './aws-error.ts';

export type ServiceName = 'dynamodb' | 'states' | 'secretsmanager' | 's3' | 'lambda' | 'sns';

/** One call to AWS, as a service sees it. The protocol that carried the call no longer matters. */
export interface AwsCall {
  readonly service: ServiceName;
  /** The operation's name in the AWS API: `TransactWriteItems`, `PutObject`. */
  readonly operation: string;
  /** The access key id of the SigV4 credential. It is the logical id of a role, or `operator`. */
  readonly caller: string;
  /** The request's members, under the names of the AWS API reference. An S3 `Body` is a Uint8Array. */
  readonly input: Record<string, unknown>;
  /** Set while the fault index-lag is on: a query sees an index as it was when the fault was first seen. */
  readonly indexesLag?: true;
}

/** An answer's members, under the names of the AWS API reference. */
export type AwsOutput = Record<string, unknown>;

/** Answers one call. Throws AwsError for every refusal that AWS answers with an error of its own. */
export type AwsService = (call: AwsCall) => Promise<AwsOutput>;

/** The account of all local resources. Their region is `localRegion`. */
export const localAccount = '000000000000';
export const localRegion = 'us-east-1';
/** The secret key of every caller of a test machine. Presigned requests are signed with it. */
export const localSecretKey = 'local';

/** The service that has these operations. */
export function serviceOf(
  operations: Readonly<Record<string, (call: AwsCall) => Promise<AwsOutput> | AwsOutput>>,
): AwsService {
  return async (call) => {
    const operation = operations[call.operation];
    if (operation === undefined) throw unknownOperation(call);
    return operation(call);
  };
}

function unknownOperation({ service, operation }: AwsCall): AwsError {
  return new AwsError('UnknownOperationException', `the local ${service} has no operation ${operation}`);
}

/** Reads the call's input with the schema. Throws ValidationException, which names the first wrong member. */
export function parseInput<Schema extends z.ZodType>(
  schema: Schema,
  { operation, input }: { readonly operation: string; readonly input: unknown },
): z.output<Schema> {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const member = issue?.path.join('.') || 'input';
  throw new AwsError('ValidationException', `${operation}: ${member}: ${issue?.message ?? 'invalid'}`);
}
