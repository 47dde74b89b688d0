import { createHash } from 'node:crypto';
import { sortedKeys } from '../image-request.ts';
import type { Fields, OpenaiAction } from './fields.ts';

/**
 * SHA-256 of everything that a request asks for. Two requests are the same when their hashes are: names of files,
 * boundaries and the order of fields make no difference. The hash is stored, so a new release must not change it.
 * @param files the SHA-256 of each file, in order
 */
export function openaiRequestHash(action: OpenaiAction, fields: Fields, files: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify({ action, fields, files }, sortedKeys)).digest('hex');
}

/** A field that is null counts as left out. */
export function withoutNullFields(body: Fields): Fields {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
}
