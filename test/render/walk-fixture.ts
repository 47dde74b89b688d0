/** Fakes of the health of routes. */
import type { ProviderCosts } from '../../service/catalog/catalog-schema.ts';
import type { RouteOrder } from '../../service/catalog/provider-store.ts';
import type { RefusalReason } from '../../service/contract/failures.ts';
import type {
  CreationRecord,
  RouteAttempt,
  RouteChoice,
  StoredImage,
} from '../../service/creations/creation.ts';
import type { ImageStore } from '../../service/creations/image-store.ts';
import type { Thumbnails } from '../../service/creations/thumbnails.ts';
import type { Parked } from '../../service/render/ask-provider.ts';
import type { Measures } from '../../service/creations/measures.ts';
import type { HealthNote, HealthStore } from '../../service/render/health-store.ts';
import type { RenderServices } from '../../service/render/open.ts';
import { routeName } from '../../service/catalog/providers.ts';
import { hourMillis, noHealth, type RouteHealth } from '../../service/render/route-health.ts';
import { openRouteNotes } from '../../service/render/route-notes.ts';
import { type Rendering, walkRoutes } from '../../service/render/walk-routes.ts';
import { schema } from '../../service/values/runtime.ts';
import type { ImageProvider, ProviderAnswer } from '../../service/vendors/provider.ts';
import {
  fakeClock,
  type FakeClock,
  fakeLog,
  type FakeLog,
  fakeProvider,
  pngBytes,
  stub,
} from '../api/fakes.ts';
import { aCreation, now, seededBytes } from '../fixtures/records.ts';

/** Nothing is known of any route, and notes change nothing. */
export function noteNothing(): HealthStore {
  return healthOf({});
}

/** The services of a renderer of which nothing is special but this. */
export function renderServices(change: Partial<RenderServices>): RenderServices {
  return stub<RenderServices>({
    health: noteNothing(),
    clock: fakeClock(),
    log: fakeLog(),
    schema,
    randomBytes: seededBytes,
    providerCosts: { costs: [] },
    resultDays: 30,
    ...thumbnailParts,
    ...change,
  });
}

const form = { width: 64, height: 64, bytes: Uint8Array.of(1) };
export const someThumbnails: Thumbnails = { small: form, large: form, colours: '243b55'.repeat(9) };
/** Thumbnails that no test checks. A store of creations has to note them. */
export const thumbnailParts = {
  thumbnails: async () => Promise.resolve(someThumbnails),
  imagesUntil: () => stub<ImageStore>({ put: async () => Promise.resolve() }),
};

export interface Noted extends HealthStore {
  readonly notes: (readonly [route: string, note: HealthNote])[];
  /** The calls in order, such as "read" and "claim first#a#". */
  readonly calls: string[];
}

/** @param known by the name of the route (service/render/route-health.ts) */
export function healthOf(
  known: Readonly<Record<string, RouteHealth>>,
  {
    order = 'given',
    claims = true,
    readAt,
    paused = [],
  }: {
    readonly order?: RouteOrder;
    readonly claims?: boolean;
    readonly readAt?: number;
    readonly paused?: readonly string[];
  } = {},
): Noted {
  const calls: string[] = [];
  const notes: [string, HealthNote][] = [];
  const of = (route: RouteChoice): RouteHealth => known[routeName(route)] ?? noHealth;
  const told = async <Result>(call: string, result: Result): Promise<Result> => {
    calls.push(call);
    return Promise.resolve(result);
  };
  return {
    calls,
    notes,
    seen: of,
    readAt: () => readAt,
    paused: async () => Promise.resolve(paused),
    read: async (routes) => told('read', { order, health: routes.map(of) }),
    note: async (route, note) => {
      notes.push([routeName(route), note]);
      return Promise.resolve(of(route));
    },
    open: async (route) => told(`open ${routeName(route)}`, true),
    close: async (route) => told(`close ${routeName(route)}`, true),
    claimProbe: async (route) => told(`claim ${routeName(route)}`, claims),
  };
}

/** A walk over the routes of a creation, with fakes of the ports. */
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

interface Walked {
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
  /** Whether a picture is transparent. */
  readonly isTransparent?: Measures['isTransparent'];
  /** By how much a picture changed what its mask protects. */
  readonly changeWhereProtected?: Measures['changeWhereProtected'];
  /** What is sent of a mask. */
  readonly seeThroughMask?: Measures['seeThroughMask'];
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
    isTransparent = async () => Promise.resolve(false),
    changeWhereProtected = async () => Promise.resolve(0),
    seeThroughMask = async (mask) => Promise.resolve(mask),
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
    measures: { isTransparent, changeWhereProtected, seeThroughMask },
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

/** The same for an ordinary creation of two routes. */
export const walkOver = (
  providers: readonly ImageProvider[],
  around: Omit<Surroundings, 'providers'> = {},
): Walked => walk({}, { providers, ...around });

function renderingOf(end: Rendering | Parked): Rendering {
  if (end.kind === 'parked') throw new Error('the walk parked');
  return end;
}

/** Walks over two routes of which something is known. */
export const open: RouteHealth = { ...noHealth, openedAt: now - 60_000, probeAt: now + 1 };
export const due: RouteHealth = { ...open, probeAt: now };
export const resting = (millis: number): RouteHealth => ({ ...noHealth, restUntil: now + millis });
export const taking = (millis: number): RouteHealth => ({
  ...noHealth,
  hours: [{ startMillis: Math.floor(now / hourMillis) * hourMillis, rendered: 1, millis }],
});
export const down = refused('unavailable');
export const throttled = (retryAfterMillis: number): ProviderAnswer => ({
  kind: 'refused',
  reason: 'unavailable',
  detail: 'HTTP 429',
  retryAfterMillis,
});
export const first = 'first#a#';
export const second = 'second#b#';

/** Lets everything happen that waits for no clock. */
export const passing = async (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

export interface Asked extends Walked {
  readonly asked: readonly string[];
}

/** A walk whose two providers give these answers. */
export function walkBy(
  health: Noted,
  [firstAnswers, secondAnswers]: readonly [readonly ProviderAnswer[], readonly ProviderAnswer[]],
  { attempts = [], ...around }: Partial<Surroundings> & { readonly attempts?: readonly RouteAttempt[] } = {},
): Asked {
  const asked: string[] = [];
  const telling = (name: string, answers: readonly ProviderAnswer[]) =>
    fakeProvider(
      name,
      ...answers.map((answer) => () => {
        asked.push(name);
        return answer;
      }),
    );
  const providers = [telling('first', firstAnswers), telling('second', secondAnswers)];
  return { ...walk({ attempts }, { providers, health, ...around }), asked };
}
