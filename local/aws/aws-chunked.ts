import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { AwsError } from './aws-error.ts';

/** A body without its aws-chunked framing, and the headers that followed it. */
export interface UnwrappedBody {
  readonly body: Buffer;
  readonly trailers: Readonly<Record<string, string>>;
}

/**
 * Removes the framing `<hex size>[;chunk-signature=…]\r\n<bytes>\r\n … 0\r\n[<trailer>: <value>\r\n]\r\n`.
 * The SDK sends a stream in this form when it knows the checksum only at the end. Throws IncompleteBody when
 * the framing breaks off. Source: "Signature calculations: transferring payload in multiple chunks" in the S3
 * API reference.
 */
export function unwrapChunks(wrapped: Buffer): UnwrappedBody {
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
export function incompleteBody(): AwsError {
  return new AwsError('IncompleteBody', 'The request body terminated unexpectedly');
}

const checksums: readonly { readonly header: string; readonly of: (body: Buffer) => string }[] = [
  { header: 'x-amz-checksum-crc32', of: crc32Base64 },
  { header: 'x-amz-checksum-sha1', of: (body) => createHash('sha1').update(body).digest('base64') },
  { header: 'x-amz-checksum-sha256', of: (body) => createHash('sha256').update(body).digest('base64') },
  { header: 'content-md5', of: (body) => createHash('md5').update(body).digest('base64') },
];

/** Compares each checksum that the request holds and Node can compute. Throws BadDigest. */
export function checkDigests(
  body: Buffer,
  sent: Readonly<Record<string, string | string[] | undefined>>,
): void {
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
