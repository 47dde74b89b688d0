import { mostPageBytes } from '../../../core/limits.ts';
import type { PortalAnswer } from '../http/caller.ts';
import { wrong } from './parameters.ts';

/** A file. Throws 400 when it is larger than an answer of Lambda can be, in which each quote takes two bytes. */
export function csvAnswer(
  lines: readonly string[],
  name: string,
  headers: Readonly<Record<string, string>> = {},
): PortalAnswer<null> {
  const text = lines.map((line) => `${line}\r\n`).join('');
  if (Buffer.byteLength(JSON.stringify(text)) > mostPageBytes)
    throw wrong('from', 'The file would be too large: ask for fewer days.');
  return {
    status: 200,
    headers: {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="darkroom-${name}"`,
      'x-content-type-options': 'nosniff',
      ...headers,
    },
    body: null,
    text,
  };
}
