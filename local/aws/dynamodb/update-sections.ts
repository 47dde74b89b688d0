/** A clause of an update expression as dynalite's parser leaves it. */
interface UpdateSection {
  readonly type: string;
  readonly path: readonly (string | number)[];
  readonly val?: unknown;
  readonly attrType?: string | null;
}

/**
 * Rewrites `ADD path :number` as `SET path = if_not_exists(path, 0) + :number`, which means the same. dynalite 4.0.0 adds
 * in place to the value that a `SET other = path` of the same expression has just shared, so that both would move
 * (`SET before = available ADD available :cost`); what SET computes is a value of its own.
 */
export function addToCopies(input: Record<string, unknown>): void {
  const updates = input._updates as { sections: UpdateSection[] } | undefined;
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
