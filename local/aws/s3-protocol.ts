import type { IncomingMessage, ServerResponse } from 'node:http';
import { isObject } from '../json-object.ts';
import type { AwsCall, AwsOutput } from './aws-call.ts';
import { AwsError } from './aws-error.ts';
import { checkDigests, incompleteBody, unwrapChunks } from './aws-chunked.ts';
import { presignParameters } from './presigned.ts';
import { escapeXml, writeListing } from './s3-listing.ts';

const metadataPrefix = 'x-amz-meta-';

/** The header of each member of an object, by the member's name in the API. */
const headerOfMember = {
  ContentType: 'content-type',
  CacheControl: 'cache-control',
  Expires: 'expires',
  ContentDisposition: 'content-disposition',
  ETag: 'etag',
  ChecksumCRC32: 'x-amz-checksum-crc32',
} as const;

const operationOfMethod: Readonly<Record<string, string>> = {
  PUT: 'PutObject',
  GET: 'GetObject',
  HEAD: 'HeadObject',
  DELETE: 'DeleteObject',
};

// Any other query parameter names a sub-resource (acl, tagging, uploads) or an option that the stand-in does
// not have.
const knownParameters = new Set<string>([
  ...['x-id', 'list-type', 'prefix', 'max-keys', 'continuation-token'],
  ...presignParameters,
]);

/** The codes that differ between S3 and the JSON services. */
const s3CodeOfError: Readonly<Record<string, string>> = {
  AccessDeniedException: 'AccessDenied',
  MissingAuthenticationTokenException: 'AccessDenied',
  InternalServerError: 'InternalError',
  ValidationException: 'InvalidRequest',
};

/** Reads a path-style request. Throws NotImplemented when the stand-in does not serve the request. */
export function readS3Call(request: IncomingMessage, body: Buffer, caller: string): AwsCall {
  // The path is split by hand. URL would resolve `..` in a key, and the stand-in would serve another object
  // than the signed one.
  const [path = '', query = ''] = (request.url ?? '').split('?', 2);
  const [, bucket = '', ...rest] = path.split('/');
  const parameters = new URLSearchParams(query);
  const unknown = [...parameters.keys()].find((name) => !knownParameters.has(name));
  if (unknown !== undefined || request.headers['x-amz-copy-source'] !== undefined)
    throw notImplemented(unknown ?? 'x-amz-copy-source');
  const Bucket = decodeURIComponent(bucket);
  const Key = decodeURIComponent(rest.join('/'));
  const call = (operation: string, input: Record<string, unknown>): AwsCall => ({
    service: 's3',
    operation,
    caller,
    input: { Bucket, ...input },
  });

  if (Key === '') {
    if (request.method !== 'GET' || parameters.get('list-type') !== '2')
      throw notImplemented(`${request.method ?? ''} on a bucket`);
    return call('ListObjectsV2', {
      Prefix: parameters.get('prefix') ?? '',
      ...(parameters.has('max-keys') && { MaxKeys: Number(parameters.get('max-keys')) }),
      ...(parameters.has('continuation-token') && {
        ContinuationToken: parameters.get('continuation-token'),
      }),
    });
  }
  const operation = operationOfMethod[request.method ?? ''];
  if (operation === undefined) throw notImplemented(`${request.method ?? ''} on a key`);
  return call(operation, operation === 'PutObject' ? { Key, ...readObject(request, body) } : { Key });
}

function readObject(request: IncomingMessage, received: Buffer): Record<string, unknown> {
  const { headers } = request;
  const chunked = headers['x-amz-content-sha256']?.toString().startsWith('STREAMING-') ?? false;
  const { body, trailers } = chunked ? unwrapChunks(received) : { body: received, trailers: {} };
  const announced = headers['x-amz-decoded-content-length'];
  if (chunked && announced !== undefined && Number(announced) !== body.length) throw incompleteBody();
  checkDigests(body, { ...headers, ...trailers });
  const Metadata = Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => name.startsWith(metadataPrefix))
      .map(([name, value]) => [name.slice(metadataPrefix.length), String(value)]),
  );
  return {
    Body: body,
    Metadata,
    ContentType: headers['content-type'],
    CacheControl: headers['cache-control'],
    Expires: headers['expires'],
    ContentDisposition: headers['content-disposition'],
    IfNoneMatch: headers['if-none-match'],
  };
}

/** Writes the answer of a call that succeeded. */
export function writeS3Output(call: AwsCall, output: AwsOutput, response: ServerResponse): void {
  if (call.operation === 'ListObjectsV2') {
    response.writeHead(200, { 'content-type': 'application/xml' });
    response.end(writeListing(output));
    return;
  }
  for (const [member, header] of Object.entries(headerOfMember)) {
    const value = output[member];
    if (typeof value === 'string') response.setHeader(header, value);
  }
  for (const [name, value] of Object.entries(isObject(output.Metadata) ? output.Metadata : {}))
    response.setHeader(metadataPrefix + name, String(value));
  if (output.LastModified instanceof Date)
    response.setHeader('last-modified', output.LastModified.toUTCString());
  if (typeof output.ContentLength === 'number') response.setHeader('content-length', output.ContentLength);
  response.statusCode = call.operation === 'DeleteObject' ? 204 : 200;
  response.end(output.Body instanceof Uint8Array ? output.Body : undefined);
}

/** Writes an error as S3 does: as XML, and for HEAD only as a status. */
export function writeS3Error(request: IncomingMessage, error: AwsError, response: ServerResponse): void {
  const code = s3CodeOfError[error.code] ?? error.code;
  const status = code === 'AccessDenied' ? 403 : error.status;
  response.writeHead(status, { 'content-type': 'application/xml' });
  response.end(
    request.method === 'HEAD'
      ? undefined
      : `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${escapeXml(error.message)}</Message></Error>`,
  );
}

function notImplemented(what: string): AwsError {
  return new AwsError('NotImplemented', `the local object store has no ${what}`, { status: 501 });
}
