/** Whether a picture shows what its request asked for. Another picture is never delivered. */
import { backgroundIn } from '../contract/request-fields.ts';
import type { CreationRecord } from '../creations/creation.ts';
import type { Measures } from '../creations/measures.ts';
import { type Clock, errorName, type Log } from '../values/runtime.ts';
import type { RouteEnd } from './route-end.ts';
import { judgeImage } from './route-verdict.ts';

/** How long the look at the pixels of one picture may take. */
export const measureMillis = 15_000;

interface Services {
  readonly clock: Pick<Clock, 'timeout'>;
  readonly log: Log;
  readonly measures: Measures;
}

/** The end as it came, or not_honoured. A picture that cannot be read counts as not honoured. */
export async function honouredEnd(
  end: RouteEnd,
  creation: CreationRecord,
  services: Services,
): Promise<RouteEnd> {
  const background = backgroundIn(creation);
  if (end.kind !== 'rendered' || background === undefined) return end;
  // What is no picture of this format is unusable for another reason.
  if (judgeImage(end.bytes, creation).kind !== 'good') return end;
  const found = await measured(end.bytes, services);
  if (found === background) return end;
  return { ...end, kind: 'not_honoured', detail: `background ${found} instead of ${background}` };
}

async function measured(
  bytes: Uint8Array,
  { clock, log, measures }: Services,
): Promise<'opaque' | 'transparent' | 'unreadable'> {
  const limit = clock.timeout(measureMillis);
  try {
    return (await measures.isTransparent(bytes, limit.signal)) ? 'transparent' : 'opaque';
  } catch (error) {
    log.info('pixels_not_read', { error: errorName(error) });
    return 'unreadable';
  } finally {
    limit.release();
  }
}
