import { DarkroomError } from '../errors.ts';

/** @internal An id as a segment of a path. A segment of dots would lead to another path, also when it is encoded. */
export function idInPath(id: string): string {
  if (/^\.*$/.test(id)) throw new DarkroomError(`${JSON.stringify(id)} is no id.`);
  return encodeURIComponent(id);
}
