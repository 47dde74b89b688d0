/**
 * The functions that render. They have the same code and differ in their memory, because a wait for a vendor
 * is billed by memory.
 */
import type { CreationRecord } from './creation.ts';

/**
 * In the order of the state machine, which picks a function by its index. An index keeps its meaning for
 * good: executions of the last release still run. 'any' comes first, because an execution without an index
 * takes it.
 */
export const renderers = ['any', 'small', 'large'] as const;
export type Renderer = (typeof renderers)[number];

/**
 * The renderer with the least memory that holds the picture. It follows from what no one changes in the
 * record, so each start of an execution finds the same one.
 */
export function rendererOf({
  sources,
  resolution,
}: Pick<CreationRecord, 'sources' | 'resolution'>): Renderer {
  if (sources.length > 0) return 'any';
  return resolution === '1K' ? 'small' : 'large';
}
