import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AwsCall, AwsOutput, ServiceName } from './aws-call.ts';
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

/** The protocol of Lambda: REST with JSON bodies. Only the operations on versions and aliases run here. */
const pathOfFunction = /^\/2015-03-31\/functions\/([^/?]+)(?:\/(versions|aliases))?\/?$/;
const operationOf: Readonly<Record<string, string>> = {
  'GET versions': 'ListVersionsByFunction',
  'GET aliases': 'ListAliases',
  'DELETE ': 'DeleteFunction',
};

/** True for a request that was signed for Lambda. */
export function isOfLambda({ headers }: IncomingMessage): boolean {
  return /Credential=[^,\s]+\/lambda\/aws4_request/.test(headers.authorization ?? '');
}

/** Reads a request. An operation that does not run here keeps its method and path as its name. */
export function readLambdaCall({ method = '', url = '' }: IncomingMessage, caller: string): AwsCall {
  const [path = '', query = ''] = url.split('?', 2);
  const [, name = '', what = ''] = pathOfFunction.exec(path) ?? [];
  const operation = name === '' ? undefined : operationOf[`${method} ${what}`];
  return {
    service: 'lambda',
    operation: operation ?? `${method} ${path}`,
    caller,
    input: { FunctionName: decodeURIComponent(name), ...Object.fromEntries(new URLSearchParams(query)) },
  };
}

export function writeLambdaOutput({ operation }: AwsCall, output: AwsOutput, response: ServerResponse): void {
  const text = operation === 'DeleteFunction' ? '' : JSON.stringify(output);
  response.writeHead(operation === 'DeleteFunction' ? 204 : 200, { 'content-type': 'application/json' });
  response.end(text);
}

/** The SDK reads the name of the exception from a header. */
export function writeLambdaError({ code, message, status }: AwsError, response: ServerResponse): void {
  const type = status >= 500 ? 'Service' : 'User';
  response.writeHead(status, { 'content-type': 'application/json', 'x-amzn-errortype': code });
  response.end(JSON.stringify({ Type: type, Message: message, message }));
}
