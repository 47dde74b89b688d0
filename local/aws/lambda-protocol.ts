/** The protocol of Lambda: REST with JSON bodies. Only the operations on versions and aliases run here. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AwsCall, AwsOutput } from './aws-call.ts';
import type { AwsError } from './aws-error.ts';

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
