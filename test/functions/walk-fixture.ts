/** A walk over the routes of a creation, with fakes of the ports. */
import type { CreationRecord, RouteAttempt, StoredImage } from '../../core/creation.ts';
import type { HealthStore } from '../../core/ports/health.ts';
import type { ImageStore } from '../../core/ports/images.ts';
import type { ProviderCosts } from '../../core/provider-costs.ts';
import type { ImageProvider, ProviderAnswer, RefusalReason } from '../../core/provider.ts';
import { schema } from '../../core/schema-version.ts';
import type { Parked } from '../../functions/workflow/ask-provider.ts';
import { openRouteNotes } from '../../functions/workflow/route-notes.ts';
import { walkRoutes, type Rendering } from '../../functions/workflow/walk-routes.ts';
import type { RenderServices } from '../../functions/services/render.ts';
import { noteNothing } from './fake-health.ts';
import { aCreation, now, seededBytes } from '../fixtures/records.ts';
import { fakeClock, fakeLog, pngBytes, stub, type FakeClock, type FakeLog } from './fakes.ts';

export const rendered: ProviderAnswer = { kind: 'rendered', bytes: pngBytes };
export const refused = (reason: RefusalReason): ProviderAnswer => ({ kind: 'refused', reason });
/** Throws the error at the nth save of the attempts. */
export function failsAt(nth: number, error: Error): () => void {
  let saves = 0;
  return () => {
    saves += 1;
    if (saves === nth) throw error;
  };
}
export const pending = (jobId: string, pollAfterMillis = 500): ProviderAnswer => ({
  kind: 'pending',
  jobId,
  pollAfterMillis,
});

export const bothRoutes = {
  routes: [
    { provider: 'first', providerModel: 'a' },
    { provider: 'second', providerModel: 'b' },
  ],
};
export const begun: RouteAttempt = {
  provider: 'first',
  providerModel: 'a',
  startedAt: '2026-11-21T12:00:30.000Z',
  resultKey: 'results/begun.png',
};

export interface Walked {
  /** Rejects also when the walk parks. */
  readonly result: Promise<Rendering>;
  readonly end: Promise<Rendering | Parked>;
  readonly saved: RouteAttempt[][];
  readonly log: FakeLog;
  readonly clock: FakeClock;
}

export interface Surroundings {
  readonly providers: readonly ImageProvider[];
  readonly stored?: readonly StoredImage[];
  readonly deadlineAt?: number;
  readonly onSave?: () => void;
  /** Reads a stored source image. */
  readonly get?: ImageStore['get'];
  /** Whether the execution can wait for a callback. */
  readonly mayPark?: boolean;
  readonly callbackBaseUrl?: string | undefined;
  readonly providerCosts?: ProviderCosts;
  /** Without it, nothing is known of any route. */
  readonly health?: HealthStore;
}

export function walk(
  change: Partial<CreationRecord>,
  {
    providers,
    stored = [],
    deadlineAt = now + 300_000,
    onSave,
    get,
    mayPark = false,
    callbackBaseUrl,
    providerCosts = { costs: [] },
    health,
  }: Surroundings,
): Walked {
  const creation = aCreation({ ...bothRoutes, ...change });
  const clock = fakeClock();
  const log = fakeLog();
  const saved: RouteAttempt[][] = [];
  const services = stub<RenderServices>({
    clock,
    log,
    schema,
    randomBytes: seededBytes,
    providerCosts,
    images: stub<ImageStore>({
      find: async (key) => Promise.resolve(stored.find((image) => image.key === key)),
      ...(get && { get }),
    }),
    providers: new Map(providers.map((provider) => [provider.name, provider])),
    callbackBaseUrl,
    health: health ?? noteNothing(),
  });
  const save = async (attempts: readonly RouteAttempt[]): Promise<void> => {
    onSave?.();
    saved.push(structuredClone([...attempts]));
    return Promise.resolve();
  };
  const notes = openRouteNotes(services);
  const end = walkRoutes({ creation, until: deadlineAt, save, mayPark, notes, services });
  // A test awaits one of the two.
  end.catch(() => undefined);
  const result = end.then(renderingOf);
  result.catch(() => undefined);
  return { result, end, saved, log, clock };
}

function renderingOf(end: Rendering | Parked): Rendering {
  if (end.kind === 'parked') throw new Error('the walk parked');
  return end;
}
