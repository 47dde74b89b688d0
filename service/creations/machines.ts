/** The functions that render. They differ in their memory, by which a wait for a vendor is billed. */
import { canCallBack } from '../catalog/providers.ts';
import type { CreationRecord, RouteChoice } from './creation.ts';

/** In the order of the state machine, which picks by index. Indexes never change; 'any' has none. */
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

/** HeartbeatSeconds of RenderImage, which then polls the job: the delay that a lost callback costs. */
export const heartbeatSeconds = 60;

/** The pace of heartbeats of a task token: two calls may fail before a heartbeat is lost. */
export const heartbeatEveryMillis = 20_000;

/** The machine for these routes, kept in the record for every start. Undefined: the plain machine. */
export function machineOf([first]: readonly Pick<RouteChoice, 'provider'>[]): CreationRecord['machine'] {
  return first && canCallBack(first.provider) ? 'callback' : undefined;
}
