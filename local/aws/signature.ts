/** Signature Version 4: what is signed, and whether the signature is that of the secret key. */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { AwsError } from './aws-error.ts';

export interface SignedParts {
  readonly request: Pick<IncomingMessage, 'method' | 'headers'>;
  /** As it is signed: each segment encoded. */
  readonly path: string;
  readonly parameters: Iterable<readonly [string, string]>;
  readonly signedHeaders: readonly string[];
  readonly payload: string;
  /** 20261121T120030Z */
  readonly date: string;
  /** Day, region, service and `aws4_request`. */
  readonly scope: readonly string[];
}

/** Throws SignatureDoesNotMatch, in the words of AWS. */
export function checkSignature(signature: string, secretKey: string, parts: SignedParts): void {
  const { request, path, parameters, signedHeaders, payload, date, scope } = parts;
  const canonical = [
    request.method ?? '',
    path,
    canonicalQuery(parameters),
    ...signedHeaders.map(
      (name) =>
        `${name}:${String(request.headers[name] ?? '')
          .trim()
          .replace(/ +/g, ' ')}`,
    ),
    '',
    signedHeaders.join(';'),
    payload,
  ].join('\n');
  const text = ['AWS4-HMAC-SHA256', date, scope.join('/'), sha256(canonical)].join('\n');
  const id = [secretKey, ...scope].join(' ');
  const key = keys.get(id) ?? scope.reduce<string | Buffer>(hmac, `AWS4${secretKey}`);
  if (!isSame(hmac(key, text).toString('hex'), signature))
    throw new AwsError(
      'SignatureDoesNotMatch',
      'The request signature we calculated does not match the signature you provided. Check your key and signing method.',
      { status: 403 },
    );
  if (keys.size > mostKeys) keys.clear();
  keys.set(id, key);
}

/** The keys that right signatures used, one for each day and service: four of five hashes of a check. */
const keys = new Map<string, string | Buffer>();
const mostKeys = 50;

const authorization =
  /^AWS4-HMAC-SHA256 Credential=([^/,\s]+)\/([\w/-]+),\s*SignedHeaders=([\w;-]+),\s*Signature=([0-9a-f]{64})$/;

/** The id of the role that signed the headers and the body. Throws in the words of AWS for every other request. */
export function signedCaller(request: IncomingMessage, body: Buffer, secretKey: string): string {
  const header = (name: string): string => String(request.headers[name] ?? '');
  const [, caller, scopeText = '', names = '', signature = ''] =
    authorization.exec(header('authorization')) ?? [];
  if (caller === undefined)
    throw new AwsError('MissingAuthenticationTokenException', 'Request is missing Authentication Token', {
      status: 403,
    });
  const scope = scopeText.split('/');
  const [path = '', query = ''] = (request.url ?? '').split('?', 2);
  const hash = sha256(body);
  const told = header('x-amz-content-sha256');
  // S3 encodes a path once. The other services sign the path as it was sent, encoded once more.
  const signedPath = scope[2] === 's3' ? decodeURIComponent(path) : path;
  checkSignature(signature, secretKey, {
    request,
    path: encoded(signedPath).replaceAll('%2F', '/'),
    parameters: new URLSearchParams(query),
    signedHeaders: names.split(';'),
    payload: told === 'UNSIGNED-PAYLOAD' ? told : hash,
    date: header('x-amz-date'),
    scope,
  });
  return caller;
}

function canonicalQuery(parameters: Iterable<readonly [string, string]>): string {
  return [...parameters]
    .filter(([name]) => name !== 'X-Amz-Signature')
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .sort((a, b) => (a < b ? -1 : 1))
    .join('&');
}

/** The UriEncode() of the guide: everything but A to Z, a to z, 0 to 9, -, ., _ and ~. */
export function encoded(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function sha256(data: string | Buffer): string {
  return createHash('sha256').update(data).digest('hex');
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

function isSame(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
}
