import { createHash } from 'node:crypto';
import { invalidRequest } from '../../../core/problem.ts';

const printable = /^[\x20-\x7e]{1,255}$/;

/** The key without the quotes that it may come in; undefined when it is not 1 to 255 printable ASCII characters. */
function bareKey(header: string): string | undefined {
  const trimmed = header.trim();
  const bare = /^"(.*)"$/.exec(trimmed)?.[1] ?? trimmed;
  return printable.test(bare) ? bare : undefined;
}

/** What the record is stored under: a key may be long, and is nobody else's business. Undefined without a valid key. */
export function idempotencyHash(header: string | undefined): string | undefined {
  const key = header === undefined ? undefined : bareKey(header);
  return key === undefined ? undefined : createHash('sha256').update(key).digest('hex');
}

/** Throws 400 when the header is there and malformed: to ignore it would risk a second charge. */
export function checkIdempotencyKey(header: string | undefined): void {
  if (header === undefined || bareKey(header) !== undefined) return;
  throw invalidRequest([
    { field: 'Idempotency-Key', code: 'invalid_value', message: '1 to 255 printable ASCII characters' },
  ]);
}
