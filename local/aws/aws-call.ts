/** The AWS services that the one-machine mode stands in for. */
export type ServiceName = 'dynamodb' | 'states' | 'secretsmanager' | 's3';

/** One call as a service sees it, whatever protocol carried it. */
export interface AwsCall {
  readonly service: ServiceName;
  /** The API's own name of the operation: `TransactWriteItems`, `PutObject`. */
  readonly operation: string;
  /** Access key id of the SigV4 credential: the logical id of a role, or `operator`. */
  readonly caller: string;
  /** The request's members under the names of the AWS API reference. An S3 `Body` is a Uint8Array. */
  readonly input: Record<string, unknown>;
  /** Set while a fault says so: index queries answer as the indexes stood when the fault was first seen. */
  readonly indexesLag?: true;
}

/** An answer's members under the names of the AWS API reference. */
export type AwsOutput = Record<string, unknown>;

/** Answers one call. Throws AwsError for every refusal that AWS would answer with an error of its own. */
export type AwsService = (call: AwsCall) => Promise<AwsOutput>;

/** The account and region in which everything local lives. */
export const localAccount = '000000000000';
export const localRegion = 'us-east-1';
