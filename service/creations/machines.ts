/** The functions that render. They differ in their memory, by which a wait for a vendor is billed. */
import { canCallBack } from '../catalog/providers.ts';
import type { CreationRecord, RouteChoice } from './creation.ts';

/**
 * In the order of the state machine, which picks a function by its index. An index keeps its meaning for
 * good: executions of the last release still run. 'any' comes first, because an execution without an index
 * takes it.
 */
export const renderers = ['any', 'small', 'large'] as const;
export type Renderer = (typeof renderers)[number];

/** The renderer with the least memory for the picture, by fields that never change. */
export function rendererOf({
  sources,
  resolution,
}: Pick<CreationRecord, 'sources' | 'resolution'>): Renderer {
  if (sources.length > 0) return 'any';
  return resolution === '1K' ? 'small' : 'large';
}

// The state machine of a creation. On the callback machine a rendering can wait for its vendor's callback at
// no cost; on the plain machine it cannot.

/**
 * HeartbeatSeconds of the state RenderImage in the callback machine. After a lost heartbeat RenderImage runs again
 * and looks after the job, so this is also the longest time that a lost callback costs.
 */
export const heartbeatSeconds = 60;

/**
 * A renderer that holds a task token sends a heartbeat after each of these times: AWS does not say whether the
 * seconds of a heartbeat begin before the invocation or after it. Two calls may fail before a heartbeat is lost.
 */
export const heartbeatEveryMillis = 20_000;

/**
 * The machine for a creation with these routes. The record keeps it, so that each start and each question goes
 * to the same machine, whatever a later release knows of the provider. Undefined: the plain machine.
 */
export function machineOf([first]: readonly Pick<RouteChoice, 'provider'>[]): CreationRecord['machine'] {
  return first && canCallBack(first.provider) ? 'callback' : undefined;
}
