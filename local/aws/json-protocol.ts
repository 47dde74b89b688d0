import type { AwsOutput, ServiceName } from './aws-call.ts';
import type { AwsError } from './aws-error.ts';

type JsonService = Exclude<ServiceName, 's3'>;

/** What x-amz-target names: `DynamoDB_20120810.GetItem`. */
export interface JsonTarget {
  readonly service: JsonService;
  readonly operation: string;
}

const serviceOfPrefix: Readonly<Record<string, JsonService>> = {
  DynamoDB_20120810: 'dynamodb',
  AWSStepFunctions: 'states',
  secretsmanager: 'secretsmanager',
};

/** Content types as the services send them: awsJson 1.0, and 1.1 for Secrets Manager. */
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

// Errors that the shared front end of the older services answers, under its own namespaces.
const frontEndNamespaceOfError: Readonly<Record<string, string>> = {
  AccessDeniedException: 'com.amazon.coral.service#',
  MissingAuthenticationTokenException: 'com.amazon.coral.service#',
  SerializationException: 'com.amazon.coral.service#',
  UnknownOperationException: 'com.amazon.coral.service#',
  ThrottlingException: 'com.amazon.coral.availability#',
  ValidationException: 'com.amazon.coral.validate#',
};

/** Reads x-amz-target. An unknown service is answered like an unknown operation: it becomes one of DynamoDB's. */
export function readTarget(header: string): JsonTarget {
  const dot = header.indexOf('.');
  const service = serviceOfPrefix[header.slice(0, dot)];
  return service === undefined
    ? { service: 'dynamodb', operation: header }
    : { service, operation: header.slice(dot + 1) };
}

/** An answer's text. Dates become epoch seconds, which is how awsJson carries a timestamp. */
export function writeOutput(output: AwsOutput): string {
  return JSON.stringify(output, function (this: Record<string, unknown>, key: string, value: unknown) {
    // JSON.stringify has already called toJSON on `value`; the Date itself is still in the holder.
    const original = this[key];
    return original instanceof Date ? original.getTime() / 1000 : value;
  });
}

/** An error's text with the `__type` that the real service sends; the SDK picks its exception class by it. */
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
