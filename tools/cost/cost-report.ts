/** What docs/cost.md is computed from. */
import type { Memory } from './bill.ts';
import type { CreationCount, CreationKind } from './measure.ts';
import type { Standing } from './standing.ts';

export interface CostReport {
  readonly kinds: Readonly<Record<CreationKind, CreationCount>>;
  readonly memory: Memory;
  readonly standing: Standing;
}
