/**
 * The schema of what one release writes and another reads: the records of creations and the inputs of their
 * executions. Both carry the version `v` of the release that accepted the creation. A field that may be absent
 * needs no new version. A change that older code would take for something else needs one: the release that
 * understands it comes first, and the next release writes it.
 */

/** What a release does with versions. A record or an input without a version has version 1. */
export interface Schema {
  /** The version that the release writes. */
  readonly written: number;
  /** The newest version that the release understands. */
  readonly newestKnown: number;
}

/** Of this code. */
export const schema: Schema = { written: 1, newestKnown: 1 };

export function isKnownVersion(v: number | undefined, { newestKnown }: Schema): boolean {
  return (v ?? 1) <= newestKnown;
}
