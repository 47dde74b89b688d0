/** A clause of an update expression, in the form of dynalite's parser. */
export interface UpdateSection {
  readonly type: string;
  readonly path: readonly (string | number)[];
  readonly val?: unknown;
  readonly attrType?: string | null;
}

/**
 * Rewrites `ADD path :number` as `SET path = if_not_exists(path, 0) + :number`, which means the same.
 * dynalite 4.0.0 changes the value in place for ADD. In `SET before = available ADD available :cost` both
 * attributes share that value, so both would change. SET computes a new value instead.
 */
export function addToCopies({
  _updates: updates,
}: {
  readonly _updates?: { sections: UpdateSection[] };
}): void {
  if (updates === undefined) return;
  updates.sections = updates.sections.map((section) => {
    if (section.type !== 'add' || section.attrType !== 'N') return section;
    const before = {
      type: 'function',
      name: 'if_not_exists',
      args: [section.path, { N: '0' }],
      attrType: 'N',
    };
    return { ...section, type: 'set', val: { type: 'add', args: [before, section.val], attrType: 'N' } };
  });
}
