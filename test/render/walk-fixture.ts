/** A walk over the routes of a creation, with fakes of the ports. */
import type { ProviderCosts } from '../../service/catalog/catalog-schema.ts';
import type { RefusalReason } from '../../service/contract/failures.ts';
import type { CreationRecord, RouteAttempt, StoredImage } from '../../service/creations/creation.ts';
import type { ImageStore } from '../../service/creations/image-store.ts';
import type { Parked } from '../../service/render/ask-provider.ts';
import type { HealthStore } from '../../service/render/health-store.ts';
import type { RenderServices } from '../../service/render/open.ts';
import { openRouteNotes } from '../../service/render/route-notes.ts';
import { type Rendering, walkRoutes } from '../../service/render/walk-routes.ts';
import { schema } from '../../service/values/runtime.ts';
import type { ImageProvider, ProviderAnswer } from '../../service/vendors/provider.ts';
import { fakeClock, type FakeClock, fakeLog, type FakeLog, pngBytes, stub } from '../api/fakes.ts';
import { aCreation, now, seededBytes } from '../fixtures/records.ts';
import { noteNothing } from './fake-health.ts';

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
