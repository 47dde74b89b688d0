/** What S3 decides before it serves a request: presigned requests, requests of web pages, and missing keys. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type AwsCall, type AwsService, localRegion } from './aws-call.ts';
import { AwsError } from './aws-error.ts';
import { checkSignature, encoded } from './signature.ts';

/** S3 allows a presigned request to be valid for a week at most. */
const longestSeconds = 604_800;

/** The parameters of a presigned request. They name neither a sub-resource nor an option. */
export const presignParameters = [
  'X-Amz-Algorithm',
  'X-Amz-Credential',
  'X-Amz-Date',
  'X-Amz-Expires',
  'X-Amz-SignedHeaders',
  'X-Amz-Security-Token',
  'X-Amz-Signature',
] as const;

export function isPresigned(request: IncomingMessage): boolean {
  return partsOf(request).parameters.has('X-Amz-Signature');
}

/** The id of the role that signed. Throws in the words of S3 when the request differs or has expired. */
export function presignedCaller(request: IncomingMessage, nowMillis: number, secretKey: string): string {
  const { path, parameters } = partsOf(request);
  const of = (name: (typeof presignParameters)[number]): string => parameters.get(name) ?? '';
  const [caller = '', day = '', region = '', service = '', end = ''] = of('X-Amz-Credential').split('/');
  const signedAt = timeOf(of('X-Amz-Date'));
  const seconds = Number(of('X-Amz-Expires'));
  const isWellFormed =
    of('X-Amz-Algorithm') === 'AWS4-HMAC-SHA256' &&
    !Number.isNaN(signedAt) &&
    day === of('X-Amz-Date').slice(0, 8) &&
    [region, service, end].join('/') === `${localRegion}/s3/aws4_request` &&
    Number.isInteger(seconds) &&
    seconds >= 1 &&
    seconds <= longestSeconds;
  if (!isWellFormed)
    throw new AwsError(
      'AuthorizationQueryParametersError',
      'Error parsing the query parameters of the signature.',
    );
  if (nowMillis < signedAt - 15 * 60_000) throw denied('Request is not valid yet');
  if (nowMillis > signedAt + seconds * 1000) throw denied('Request has expired');
  const names = of('X-Amz-SignedHeaders').split(';');
  const unsigned = Object.keys(request.headers).filter(
    (name) => name.startsWith('x-amz-') && !names.includes(name),
  );
  if (unsigned.length > 0 || !names.includes('host'))
    throw denied('There were headers present in the request which were not signed');
  checkSignature(of('X-Amz-Signature'), secretKey, {
    request,
    path: encoded(decodeURIComponent(path)).replaceAll('%2F', '/'),
    parameters,
    signedHeaders: names,
    payload: 'UNSIGNED-PAYLOAD',
    date: of('X-Amz-Date'),
    scope: [day, region, service, end],
  });
  return caller;
}

function partsOf({ url = '' }: IncomingMessage): { path: string; parameters: URLSearchParams } {
  const [path = '', query = ''] = url.split('?', 2);
  return { path, parameters: new URLSearchParams(query) };
}

/** 20261121T120030Z as Unix milliseconds. NaN for another text. */
function timeOf(text: string): number {
  return Date.parse(text.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));
}

function denied(message: string): AwsError {
  return new AwsError('AccessDenied', message, { status: 403 });
}

/** S3 answers 404 for a missing key only to a caller that may list the bucket. Others get 403 AccessDenied. */
export function hideMissingKeys(service: AwsService, authorize: (call: AwsCall) => void): AwsService {
  return async (call) => {
    try {
      return await service(call);
    } catch (error) {
      if (error instanceof AwsError && error.code === 'NoSuchKey') {
        authorize({ ...call, operation: 'ListObjectsV2', input: { Bucket: call.input.Bucket } });
      }
      throw error;
    }
  };
}

// The CORS headers of S3, by the rules of the bucket.

/** One rule of a bucket, as the template has it. One `*` in an origin or a header stands for any text. */
export interface CorsRule {
  readonly methods: readonly string[];
  readonly origins: readonly string[];
  readonly headers: readonly string[];
  readonly maxAgeSeconds?: number | undefined;
}

export type CorsRules = (bucket: string) => readonly CorsRule[];

/** Answers a preflight request. Otherwise gives the answer the headers of an allowed origin, and returns false. */
export function answersCors(request: IncomingMessage, response: ServerResponse, rulesOf: CorsRules): boolean {
  const { origin } = request.headers;
  if (origin === undefined) return false;
  const isPreflight = request.method === 'OPTIONS';
  const method = isPreflight ? header(request, 'access-control-request-method') : (request.method ?? '');
  const asked = isPreflight ? list(header(request, 'access-control-request-headers')) : [];
  const bucket = decodeURIComponent((request.url ?? '').split('?', 1)[0]?.split('/')[1] ?? '');
  const rule = rulesOf(bucket).find(
    ({ methods, origins, headers }) =>
      methods.includes(method) &&
      origins.some((pattern) => fits(pattern, origin)) &&
      asked.every((name) => headers.some((pattern) => fits(pattern.toLowerCase(), name))),
  );
  if (rule) {
    response.setHeader('access-control-allow-origin', rule.origins.includes('*') ? '*' : origin);
    response.setHeader('access-control-allow-methods', rule.methods.join(', '));
    response.setHeader('vary', 'Origin, Access-Control-Request-Headers, Access-Control-Request-Method');
  }
  if (!isPreflight) return false;
  request.resume();
  if (rule) {
    if (asked.length > 0) response.setHeader('access-control-allow-headers', asked.join(', '));
    if (rule.maxAgeSeconds !== undefined) response.setHeader('access-control-max-age', rule.maxAgeSeconds);
    response.writeHead(200).end();
  } else {
    response
      .writeHead(403, { 'content-type': 'application/xml' })
      .end(
        '<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>AccessForbidden</Code><Message>CORSResponse: This CORS request is not allowed. This is usually because the evalution of Origin, request method / Access-Control-Request-Method or Access-Control-Request-Headers are not whitelisted by the resource\'s CORS spec.</Message></Error>',
      );
  }
  return true;
}

function header({ headers }: IncomingMessage, name: string): string {
  const value = headers[name];
  return typeof value === 'string' ? value : '';
}

function list(text: string): string[] {
  return text
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '');
}

function fits(pattern: string, text: string): boolean {
  const [before = '', after] = pattern.split('*', 2);
  if (after === undefined) return pattern === text;
  return text.length >= before.length + after.length && text.startsWith(before) && text.endsWith(after);
}
