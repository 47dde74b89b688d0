/** The files of the portal's pages, and how a release puts them into the bucket. */
import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { addressOf, type BucketAddress } from '../aws/aws-place.ts';
import { createSignedFetch, type SignedInit, type SigningKeys } from '../aws/signed-fetch.ts';
import type { Clock } from '../values/runtime.ts';

/** How each file of the portal's pages is stored and served. */

export interface PageHeaders {
  readonly contentType: string;
  readonly cacheControl: string;
}

const contentTypes: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  json: 'application/json',
  txt: 'text/plain; charset=utf-8',
  tgz: 'application/gzip',
  sha256: 'text/plain; charset=utf-8',
};

/** A name with a hash of the content, such as "app-0123456789.js". */
const hashed = /-[0-9a-f]{10,}\.\w+$/;

/** Throws for an ending that this table does not know, so that no file is served as something else. */
export function pageHeaders(name: string): PageHeaders {
  const contentType = contentTypes[name.slice(name.lastIndexOf('.') + 1)];
  if (contentType === undefined) throw new Error(`${name}: no content type is known for this ending`);
  return { contentType, cacheControl: cacheControlOf(name) };
}

function cacheControlOf(name: string): string {
  if (hashed.test(name)) return 'public, max-age=31536000, immutable';
  return /\.(html|json|tgz|sha256)$/.test(name) ? 'no-cache' : 'public, max-age=86400';
}

export interface PageAddresses {
  /** https://HOST/, or http://127.0.0.1:N/portal/ */
  readonly portalUrl: string;
  /** https://HOST/api/public/v1 */
  readonly apiUrl: string;
}

/** The text of a page or of an OpenAPI document, with the addresses of this deployment. */
export function withAddresses(text: string, { portalUrl, apiUrl }: PageAddresses): string {
  return text
    .replaceAll('{base}', new URL(portalUrl).pathname)
    .replaceAll('{api_url}', apiUrl)
    .replaceAll('{api_origin}', new URL(apiUrl).origin);
}

export function hasAddresses(name: string): boolean {
  return name.endsWith('.html') || name.endsWith('.json');
}

/** The order in which the files are stored: a page comes after the files that it asks for. */
export function inOrderOfPublishing(names: readonly string[]): readonly string[] {
  return [
    ...names.filter((name) => !name.endsWith('.html')),
    ...names.filter((name) => name.endsWith('.html')),
  ];
}

export function createPageFiles(folder: string) {
  return {
    /** The names of the files, with the folder of each below the folder of the pages. */
    list: async (): Promise<readonly string[]> => {
      const found = await readdir(folder, { recursive: true, withFileTypes: true });
      const files = found.filter((one) => one.isFile());
      return files.map((one) => relative(folder, join(one.parentPath, one.name))).sort();
    },
    read: async (name: string): Promise<Uint8Array> => readFile(join(folder, name)),
  };
}

export interface PagesAccess extends BucketAddress, SigningKeys {
  readonly clock: Pick<Clock, 'now' | 'sleep'>;
}

const callMillis = 20_000;

/** The bucket of the portal's pages. A call throws when S3 refuses it, or does not answer in time. */
export function createPageStore(access: PagesAccess) {
  const send = createSignedFetch({ ...access, service: 's3', retries: 4 });

  async function call(what: string, init: SignedInit): Promise<string> {
    const answer = await send(`${addressOf(access)}${what}`, {
      ...init,
      signal: AbortSignal.timeout(callMillis),
    });
    const text = await answer.text();
    if (!answer.ok)
      throw new Error(
        `the bucket of the pages answered ${answer.status} to ${init.method ?? ''} ${what.slice(1)}`,
      );
    return text;
  }

  return {
    put: async (name: string, bytes: Uint8Array, { contentType, cacheControl }: PageHeaders) => {
      await call(`/${name}`, {
        method: 'PUT',
        body: Uint8Array.from(bytes),
        headers: { 'content-type': contentType, 'cache-control': cacheControl },
      });
    },
    /** Up to 1,000 names of what is stored. */
    // The names of pages have no character that XML escapes.
    list: async (): Promise<readonly string[]> => {
      const listing = await call('?list-type=2', { method: 'GET' });
      return [...listing.matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, name = '']) => name);
    },
    remove: async (name: string) => {
      await call(`/${name}`, { method: 'DELETE' });
    },
  };
}
