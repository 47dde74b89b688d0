/** The protocols with JSON bodies: awsJson, and the REST of Lambda, of which only versions and aliases run here. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { sendText } from '../http.ts';
import { isObject, parseJson } from '../json.ts';
import type { AwsCall, AwsOutput, ServiceName } from './aws-call.ts';
import { AwsError } from './aws-error.ts';

type JsonService = Exclude<ServiceName, 's3' | 'lambda' | 'sns'>;

/** The part of x-amz-target before the dot, the content type, and the namespace of most errors. */
const services: Readonly<
  Record<JsonService, { readonly prefix: string; readonly contentType: string; readonly namespace: string }>
> = {
  dynamodb: {
    prefix: 'DynamoDB_20120810',
    contentType: 'application/x-amz-json-1.0',
    namespace: 'com.amazonaws.dynamodb.v20120810#',
  },
  states: {
    prefix: 'AWSStepFunctions',
    contentType: 'application/x-amz-json-1.0',
    namespace: 'com.amazonaws.swf.service.v2.model#',
  },
  secretsmanager: { prefix: 'secretsmanager', contentType: 'application/x-amz-json-1.1', namespace: '' },
};
const serviceOfPrefix = new Map(
  Object.entries(services).map(([name, { prefix }]) => [prefix, name as JsonService]),
);

// These errors come from the shared front end of the older services, under namespaces of its own.
const frontEndNamespaceOfError: Readonly<Record<string, string>> = {
  AccessDeniedException: 'com.amazon.coral.service#',
  MissingAuthenticationTokenException: 'com.amazon.coral.service#',
  SerializationException: 'com.amazon.coral.service#',
  UnknownOperationException: 'com.amazon.coral.service#',
  ThrottlingException: 'com.amazon.coral.availability#',
  ValidationException: 'com.amazon.coral.validate#',
};

/** What the header x-amz-target names. An unknown service counts as an unknown operation of DynamoDB. */
export function readTarget(header: string): { readonly service: JsonService; readonly operation: string } {
  const dot = header.indexOf('.');
  const service = serviceOfPrefix.get(header.slice(0, dot));
  return service === undefined
    ? { service: 'dynamodb', operation: header }
    : { service, operation: header.slice(dot + 1) };
}

/** The members of a request. Throws SerializationException. */
export function readJsonInput(body: Buffer): Record<string, unknown> {
  const parsed = parseJson(body.length === 0 ? '{}' : body.toString());
  if (!isObject(parsed)) throw new AwsError('SerializationException', 'the body is not JSON');
  return parsed;
}

/** Writes an answer. A date becomes epoch seconds, as in awsJson. */
export function writeJsonOutput(service: JsonService, output: AwsOutput, response: ServerResponse): void {
  const text = JSON.stringify(output, function (this: Record<string, unknown>, key: string, value: unknown) {
    // JSON.stringify has already called toJSON on `value`. The Date itself is still in `this`.
    const original = this[key];
    return original instanceof Date ? original.getTime() / 1000 : value;
  });
  sendText(response, 200, services[service].contentType, text);
}

/** Writes an error with the `__type` of the real service, by which the SDK picks its exception class. */
export function writeJsonError(service: JsonService, error: AwsError, response: ServerResponse): void {
  const { contentType, namespace } = services[service];
  const type = namespace === '' ? '' : (frontEndNamespaceOfError[error.code] ?? namespace);
  const { code, message, fields, status } = error;
  const text = JSON.stringify({ __type: type + code, message, Message: message, ...fields });
  sendText(response, status, contentType, text);
}

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
