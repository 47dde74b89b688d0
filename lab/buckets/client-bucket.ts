/**
 * The bucket of a client, at a service that speaks S3: it checks signature, date and checksums of each request, and
 * answers with the documented errors of S3 (API reference, "Error responses"). A fault replaces the answer of one
 * request.
 */
import { createHash } from 'node:crypto';
import { AwsError } from '../../local/aws/aws-error.ts';
import { checkSignature } from '../../local/aws/signature.ts';

export interface BucketRequest {
  readonly method: string;
  readonly path: string;
  /** The names are in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
}

/** `silent`: no answer ever comes. `closed`: the connection ends without one. */
export type BucketAnswer =
  | { readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly body: Buffer }
  | 'silent'
  | 'closed';

export interface StoredObject {
  readonly bytes: Buffer;
  readonly contentType: string;
  /** How often these or other bytes were stored under the name. */
  readonly puts: number;
}

const errors = {
  AccessDenied: 403,
  NoSuchBucket: 404,
  SlowDown: 503,
  InternalError: 500,
  PermanentRedirect: 301,
} as const;

export const bucketFaults = [
  ...(Object.keys(errors) as (keyof typeof errors)[]),
  'silent',
  'closed',
  /** The object is stored, and the connection ends before the answer. */
  'closed-after',
  /** The last byte is stored as another one, with its own ETag. */
  'other-bytes',
  /** A byte more is stored, with its own ETag. */
  'more-bytes',
  /** The bytes are right, and the ETag is not their MD5, as where a bucket encrypts with keys of its own. */
  'other-etag',
  /** The whole object is sent, whatever range is asked for, as servers may do that know no ranges. */
  'no-ranges',
] as const;
export type BucketFault = (typeof bucketFaults)[number];

export interface ClientBucketOptions {
  readonly bucket: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly now: () => number;
}

const skewMillis = 15 * 60_000;
const authorization =
  /^AWS4-HMAC-SHA256 Credential=([^/,\s]+)\/([\w/-]+), SignedHeaders=([\w;-]+), Signature=([0-9a-f]{64})$/;

export function createClientBucket(options: ClientBucketOptions) {
  const objects = new Map<string, StoredObject>();

  function store(
    key: string,
    { headers, body }: BucketRequest,
    fault: BucketFault | undefined,
  ): BucketAnswer {
    const bytes =
      fault === 'other-bytes'
        ? Buffer.concat([body.subarray(0, -1), Buffer.from([(body.at(-1) ?? 0) ^ 1])])
        : fault === 'more-bytes'
          ? Buffer.concat([body, Buffer.from('!')])
          : body;
    const contentType = headers['content-type'] ?? 'binary/octet-stream';
    objects.set(key, { bytes, contentType, puts: (objects.get(key)?.puts ?? 0) + 1 });
    if (fault === 'closed-after') return 'closed';
    const etag = fault === 'other-etag' ? '0'.repeat(32) : hash('md5', bytes).toString('hex');
    return { status: 200, headers: { etag: `"${etag}"` }, body: Buffer.alloc(0) };
  }

  function carryOut(request: BucketRequest, fault: BucketFault | undefined): BucketAnswer {
    const key = checked(request, options);
    switch (request.method) {
      case 'PUT':
        return store(key, request, fault);
      case 'DELETE':
        objects.delete(key);
        return { status: 204, headers: {}, body: Buffer.alloc(0) };
      case 'GET': {
        const found = objects.get(key);
        if (!found) throw new AwsError('NoSuchKey', 'The specified key does not exist.', { status: 404 });
        return inRange(found, fault === 'no-ranges' ? undefined : request.headers['range']);
      }
      default:
        throw new AwsError('MethodNotAllowed', 'The method is not allowed.', { status: 405 });
    }
  }

  return {
    objects,
    answer: (request: BucketRequest, fault?: BucketFault): BucketAnswer => {
      if (fault === 'silent' || fault === 'closed') return fault;
      const error = Object.entries(errors).find(([code]) => code === fault);
      if (error) return refused(...error);
      try {
        return carryOut(request, fault);
      } catch (thrown) {
        if (!(thrown instanceof AwsError)) throw thrown;
        return refused(thrown.code, thrown.status);
      }
    },
  };
}

/** The whole object, or the bytes that a header as "bytes=0-99" names. */
function inRange({ bytes, contentType }: StoredObject, range = ''): BucketAnswer {
  const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(range) ?? [];
  if (from === undefined) return { status: 200, headers: { 'content-type': contentType }, body: bytes };
  const body = bytes.subarray(Number(from), Number(to) + 1);
  if (body.byteLength === 0) throw new AwsError('InvalidRange', 'InvalidRange', { status: 416 });
  const contentRange = `bytes ${from}-${Number(from) + body.byteLength - 1}/${bytes.byteLength}`;
  return { status: 206, headers: { 'content-type': contentType, 'content-range': contentRange }, body };
}

/** The key of the object. Throws in the words of S3. */
function checked({ method, path, headers, body }: BucketRequest, options: ClientBucketOptions): string {
  const [, id, scopeText = '', names = '', signature = ''] =
    authorization.exec(headers['authorization'] ?? '') ?? [];
  const refuse = (code: string, status = 403): never => {
    throw new AwsError(code, code, { status });
  };
  if (id !== options.accessKeyId) return refuse(id === undefined ? 'AccessDenied' : 'InvalidAccessKeyId');
  const scope = scopeText.split('/');
  if (scope[1] !== options.region) return refuse('AuthorizationHeaderMalformed', 400);
  const date = headers['x-amz-date'] ?? '';
  const signedAt = Date.parse(
    date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'),
  );
  if (!(Math.abs(signedAt - options.now()) <= skewMillis)) return refuse('RequestTimeTooSkewed');
  const payload = headers['x-amz-content-sha256'] ?? '';
  const parts = { request: { method, headers }, path, parameters: [], signedHeaders: names.split(';') };
  checkSignature(signature, options.secretAccessKey, { ...parts, payload, date, scope });
  if (payload !== hash('sha256', body).toString('hex')) return refuse('XAmzContentSHA256Mismatch', 400);
  const md5 = headers['content-md5'];
  if (md5 !== undefined && md5 !== hash('md5', body).toString('base64')) return refuse('BadDigest', 400);
  const [, bucket, ...key] = path.split('/');
  return bucket === options.bucket ? key.join('/') : refuse('NoSuchBucket', 404);
}

/** Like S3, the answer repeats what was signed: none of it may go further. */
function refused(code: string, status: number): BucketAnswer {
  const body = `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>Refused.</Message><AWSAccessKeyId>AKIAREPEATED</AWSAccessKeyId><RequestId>4442587FB7D0A2F9</RequestId></Error>`;
  return { status, headers: { 'content-type': 'application/xml' }, body: Buffer.from(body) };
}

function hash(kind: 'md5' | 'sha256', bytes: Uint8Array): Buffer {
  return createHash(kind).update(bytes).digest();
}
