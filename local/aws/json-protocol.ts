import type { AwsOutput, ServiceName } from './aws-call.ts';
import type { AwsError } from './aws-error.ts';

type JsonService = Exclude<ServiceName, 's3' | 'lambda'>;

/** The content of the header x-amz-target: `DynamoDB_20120810.GetItem`. */
export interface JsonTarget {
  readonly service: JsonService;
  readonly operation: string;
}

const serviceOfPrefix: Readonly<Record<string, JsonService>> = {
  DynamoDB_20120810: 'dynamodb',
  AWSStepFunctions: 'states',
  secretsmanager: 'secretsmanager',
};

/** The content types of the services: awsJson 1.0, and 1.1 for Secrets Manager. */
export const contentTypeOfService: Readonly<Record<JsonService, string>> = {
  dynamodb: 'application/x-amz-json-1.0',
  states: 'application/x-amz-json-1.0',
  secretsmanager: 'application/x-amz-json-1.1',
};

const namespaceOfService: Readonly<Record<JsonService, string>> = {
  dynamodb: 'com.amazonaws.dynamodb.v20120810#',
  states: 'com.amazonaws.swf.service.v2.model#',
  secretsmanager: '',
};

// These errors come from the shared front end of the older services, under namespaces of its own.
const frontEndNamespaceOfError: Readonly<Record<string, string>> = {
  AccessDeniedException: 'com.amazon.coral.service#',
  MissingAuthenticationTokenException: 'com.amazon.coral.service#',
  SerializationException: 'com.amazon.coral.service#',
  UnknownOperationException: 'com.amazon.coral.service#',
  ThrottlingException: 'com.amazon.coral.availability#',
  ValidationException: 'com.amazon.coral.validate#',
};

/**
 * Reads x-amz-target. An unknown service counts as an unknown operation of DynamoDB, and gets the same
 * refusal.
 */
export function readTarget(header: string): JsonTarget {
  const dot = header.indexOf('.');
  const service = serviceOfPrefix[header.slice(0, dot)];
  return service === undefined
    ? { service: 'dynamodb', operation: header }
    : { service, operation: header.slice(dot + 1) };
}

/** The text of an answer. A date becomes epoch seconds, as in awsJson. */
export function writeOutput(output: AwsOutput): string {
  return JSON.stringify(output, function (this: Record<string, unknown>, key: string, value: unknown) {
    // JSON.stringify has already called toJSON on `value`. The Date itself is still in `this`.
    const original = this[key];
    return original instanceof Date ? original.getTime() / 1000 : value;
  });
}

/**
 * The text of an error, with the `__type` that the real service sends. The SDK picks its exception class by
 * `__type`.
 */
export function writeError(service: JsonService, error: AwsError): string {
  const namespace =
    service === 'secretsmanager' ? '' : (frontEndNamespaceOfError[error.code] ?? namespaceOfService[service]);
  return JSON.stringify({
    __type: namespace + error.code,
    message: error.message,
    Message: error.message,
    ...error.fields,
  });
}
