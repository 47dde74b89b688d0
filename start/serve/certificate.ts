/** The certificate of the public address, from two files that a renewal replaces. */
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';

export interface CertificateFiles {
  /** The certificate and its chain, in PEM. */
  readonly cert: string;
  readonly key: string;
}

/**
 * The contents of the files. Throws an Error of one sentence about the wrong one.
 * @param from the options that named the files
 */
export function readCertificate(
  files: CertificateFiles,
  from: CertificateFiles = { cert: '--tls-cert', key: '--tls-key' },
): CertificateFiles {
  const pem = { cert: contentOf(from.cert, files.cert), key: contentOf(from.key, files.key) };
  try {
    createSecureContext({ cert: pem.cert });
  } catch (error) {
    throw wrong(from.cert, files.cert, 'certificate in PEM', error);
  }
  try {
    createSecureContext(pem);
  } catch (error) {
    throw wrong(from.key, files.key, 'key of the certificate in PEM', error);
  }
  return pem;
}

function contentOf(option: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw wrong(option, file, 'file that can be read', error);
  }
}

function wrong(option: string, file: string, what: string, cause: unknown): Error {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new Error(`${option}: ${JSON.stringify(file)} is no ${what} (${why}).`, { cause });
}
