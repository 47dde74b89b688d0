/**
 * The schema of what one release writes and another reads: the records of creations and the inputs of their
 * executions. Both carry the version `v` of the release that accepted the creation. A field that may be absent
 * needs no new version. A change that older code would take for something else needs one: the release that
 * understands it comes first, and the next release writes it.
 */

/** The version that this code writes. A record or an input without a version has version 1. */
export const schemaVersion = 1;
/** The newest version that this code understands. */
const newestKnownVersion = 1;

export function isKnownVersion(v: number | undefined): boolean {
  return (v ?? 1) <= newestKnownVersion;
}
