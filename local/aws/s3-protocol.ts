import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { crc32 } from 'node:zlib';
import { isObject } from '../json.ts';
import type { AwsCall, AwsOutput } from './aws-call.ts';
import { AwsError } from './aws-error.ts';
import { presignParameters } from './s3-access.ts';

/** Removes the framing of a stream, and reads the headers that follow (S3 API reference, "multiple chunks"). */
function unwrapChunks(wrapped: Buffer): { body: Buffer; trailers: Record<string, string> } {
  const chunks: Buffer[] = [];
  let at = 0;
  for (;;) {
    const lineEnd = wrapped.indexOf('\r\n', at);
    const size = lineEnd < 0 ? Number.NaN : Number.parseInt(wrapped.toString('latin1', at, lineEnd), 16);
    if (Number.isNaN(size)) throw incompleteBody();
    at = lineEnd + 2;
    if (size === 0) break;
    if (at + size + 2 > wrapped.length) throw incompleteBody();
    chunks.push(wrapped.subarray(at, at + size));
    at += size + 2;
  }
  return { body: Buffer.concat(chunks), trailers: readTrailers(wrapped.toString('latin1', at)) };
}

function readTrailers(text: string): Record<string, string> {
  const trailers: Record<string, string> = {};
  for (const line of text.split('\r\n')) {
    const colon = line.indexOf(':');
    if (colon > 0) trailers[line.slice(0, colon).trim().toLowerCase()] = line.slice(colon + 1).trim();
  }
  return trailers;
}

/** The error for a body that ends before its announced length. */
function incompleteBody(): AwsError {
  return new AwsError('IncompleteBody', 'The request body terminated unexpectedly');
}

const checksums: readonly { readonly header: string; readonly of: (body: Buffer) => string }[] = [
  { header: 'x-amz-checksum-crc32', of: crc32Base64 },
  { header: 'x-amz-checksum-sha1', of: (body) => createHash('sha1').update(body).digest('base64') },
  { header: 'x-amz-checksum-sha256', of: (body) => createHash('sha256').update(body).digest('base64') },
  { header: 'content-md5', of: (body) => createHash('md5').update(body).digest('base64') },
];

/** Compares each checksum that the request holds and Node can compute. Throws BadDigest. */
function checkDigests(body: Buffer, sent: Readonly<Record<string, string | string[] | undefined>>): void {
  for (const { header, of } of checksums) {
    const expected = sent[header];
    if (expected !== undefined && expected !== of(body)) {
      throw new AwsError('BadDigest', `The ${header} you specified did not match what we received.`);
    }
  }
}

/** The CRC-32 of the body in base64, as S3 sends it. */
export function crc32Base64(body: Uint8Array): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(crc32(body));
  return bytes.toString('base64');
}

export interface ListedObject {
  readonly Key: string;
  readonly Size: number;
  readonly ETag: string;
  readonly LastModified: Date;
}

function writeListing(output: AwsOutput): string {
  const contents = Array.isArray(output.Contents) ? output.Contents.filter(isListed) : [];
  const members = [
    element('Name', String(output.Name)),
    element('Prefix', String(output.Prefix)),
    element('KeyCount', String(contents.length)),
    element('MaxKeys', String(output.MaxKeys)),
    element('IsTruncated', String(output.IsTruncated)),
    typeof output.NextContinuationToken === 'string'
      ? element('NextContinuationToken', output.NextContinuationToken)
      : '',
    ...contents.map(writeObject),
  ];
  return `<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${members.join('')}</ListBucketResult>`;
}

function isListed(value: unknown): value is ListedObject {
  return isObject(value) && value.LastModified instanceof Date;
}

function writeObject(object: ListedObject): string {
  const { Key, Size, ETag, LastModified } = object;
  return `<Contents>${element('Key', Key)}${element('LastModified', LastModified.toISOString())}${element('ETag', ETag)}${element('Size', String(Size))}<StorageClass>STANDARD</StorageClass></Contents>`;
}

function element(name: string, text: string): string {
  return `<${name}>${escapeXml(text)}</${name}>`;
}

/** Escapes text for XML. Control characters become references, so that no key breaks a listing. */
function escapeXml(text: string): string {
  return text.replace(/[<>&"'\r\n\t]/g, (character) => `&#${character.charCodeAt(0)};`);
}

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

// Any other query parameter names a sub-resource or an option that the stand-in does not have.
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
  // Split by hand: URL would resolve `..` in a key, and serve another object than the signed one.
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
