import { createHash } from 'node:crypto';
import { isUser } from '../user.ts';
import { Wrong } from './wrong.ts';

/**
 * The user of a creation for the `user` of an OpenAI request: the text itself, or its SHA-256 in hex when the text
 * is longer than a user may be or holds what a user may not. Undefined for an empty text.
 */
export function foreignUser(value: unknown): string | undefined | Wrong {
  if (typeof value !== 'string') return new Wrong('invalid_type', 'must be a string');
  if (value === '') return undefined;
  return isUser(value) ? value : createHash('sha256').update(value).digest('hex');
}
