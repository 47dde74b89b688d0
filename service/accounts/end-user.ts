/** The `user` of a request: whom the client renders for. Stored unchanged, but hashed in keys. */
import { createHash } from 'node:crypto';
import type { FieldError } from '../values/problem.ts';
import { characters, loneSurrogate } from '../values/text.ts';

/** In code points. */
const mostUserLength = 64;
const controlCharacter = /\p{Cc}/u;

export function userProblems(value: unknown): readonly Omit<FieldError, 'field'>[] {
  if (typeof value !== 'string') return [{ code: 'invalid_type', message: 'must be a string' }];
  if (value === '') return [{ code: 'too_short', message: 'at least 1 characters' }];
  if (!value.isWellFormed()) return [loneSurrogate];
  if (controlCharacter.test(value))
    return [{ code: 'invalid_value', message: 'must not contain control characters' }];
  return characters(value) > mostUserLength
    ? [{ code: 'too_long', message: `at most ${mostUserLength} characters` }]
    : [];
}

export function isUser(value: unknown): value is string {
  return userProblems(value).length === 0;
}

export function userHash(user: string): string {
  return createHash('sha256').update(user).digest('base64url');
}
