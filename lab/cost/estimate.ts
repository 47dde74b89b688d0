/** What a number of creations costs, by vendor and time, computed from the committed counts. */
import { canCallBack, type ProviderName, providers } from '../../service/catalog/providers.ts';
import { firstPollSeconds } from '../../service/contract/limits.ts';
import { type MetricDefinition, metrics } from '../../service/contract/metrics.ts';
import { nextPollSeconds } from '../../service/creations/creation.ts';
import { fakes } from '../vendors/fakes/all-fakes.ts';
import type { Fake } from '../vendors/fakes/facts.ts';
import { billOf, billParts, type Measurements, type Memory, prices, totalOf, waitFor } from './prices.ts';
import { dailyAudits, fetchedBill, keptMonth, storedBill, trafficBill, usualMegabytes } from './standing.ts';

/** How the customer learns that the image is there. */
export type Following = 'webhook' | 'polls';

/** The pictures of each renderer, by the renderer's name. */
export const pictures = {
  RenderImageSmall: '1K without source images',
  RenderImageLarge: '2K and 4K without source images',
  RenderImage: 'any size with source images',
} as const;
export type RendererName = keyof typeof pictures;

export interface Order {
  readonly creations: number;
  /** How long the vendor takes. */
  readonly seconds: number;
  readonly vendor: ProviderName;
  readonly following: Following;
  readonly renderer?: RendererName;
  /** The size of one picture. */
  readonly megabytes?: number;
}

/**
 * USD for 1,000 creations by part, USD for all creations, and how often a customer polls one creation. Every creation
 * ends with an image.
 */
export function estimate(order: Order, measured: Measurements) {
  const { creations, seconds, vendor, following, megabytes = usualMegabytes } = order;
  const kind = kindOf(vendor);
  const hasWebhook = following === 'webhook';
  const polls = hasWebhook ? 0 : pollsUntil(seconds);
  const perThousand: Readonly<Record<string, number>> = {
    ...serviceBill({ kind, seconds, hasWebhook, renderer: order.renderer ?? 'RenderImageSmall' }, measured),
    Polls: polls * pollBill(measured),
    'Pictures, stored for 31 days': storedBill(megabytes),
    'Pictures, fetched once each': fetchedBill(megabytes),
    'Other traffic': trafficBill({ polls, hasWebhook }),
    'Records, in the first month': keptMonth(measured.kinds['success, webhook'].storedBytes) + dailyAudits(),
  };
  return { kind, polls, perThousand, all: (creations / 1000) * totalOf(perThousand) };
}

interface Service {
  readonly kind: VendorKind;
  readonly seconds: number;
  readonly hasWebhook: boolean;
  readonly renderer: RendererName;
}

/** The work of the service itself, in USD for 1,000 creations. */
export function serviceBill(
  { kind, seconds, hasWebhook, renderer }: Service,
  measured: Measurements,
): Readonly<Record<string, number>> {
  const quiet = billOf('success', measured, renderer);
  const told = billOf('success, webhook', measured, renderer);
  const ended = kind === 'callback' ? billOf('success, webhook, callback', measured, renderer) : told;
  const parts = billParts.map((part): [string, number] => [
    part,
    // What a webhook adds does not depend on the vendor.
    hasWebhook ? ended[part] : ended[part] - told[part] + quiet[part],
  ]);
  return {
    ...Object.fromEntries(parts),
    'Waiting for the vendor': waitingBill(kind, seconds, renderer, measured.memory),
  };
}

/** A job that is polled is noted with its id, in one more write. A vendor that calls back keeps nobody waiting. */
function waitingBill(kind: VendorKind, seconds: number, renderer: RendererName, memory: Memory): number {
  if (kind === 'callback') return 0;
  return waitFor(seconds, renderer, memory) + (kind === 'polled' ? 1000 * prices.writeUnit : 0);
}

/** USD for 1,000 polls. */
export function pollBill(measured: Measurements): number {
  return totalOf(billOf('poll', measured));
}

/**
 * The metrics that steady traffic of one model at one vendor keeps alive, in USD a month: those without dimensions,
 * and one series of each of the others. The ones of the month without requests are not among them.
 */
export function trafficMetricsMonth(): { readonly metrics: number; readonly usd: number } {
  const listed: readonly MetricDefinition[] = metrics;
  const steady = listed.filter(({ event }) =>
    ['creation_accepted', 'creation_completed', 'provider_answered', 'webhook_attempted'].includes(event),
  );
  return { metrics: steady.length, usd: steady.length * prices.metricMonth };
}

/** The default deadline of an account. It is far enough away not to change the pace here. */
const deadlineMillis = 300_000;

/**
 * How many polls a client makes that waits as long as the service says. The vendor takes its usual time, and the
 * last poll finds the image.
 * @param isKnown whether the service knows the usual time
 */
export function pollsUntil(seconds: number, isKnown = true): number {
  const createdAt = new Date(0).toISOString();
  const attempt = { provider: '', providerModel: '', startedAt: createdAt, resultKey: '' };
  const creation = {
    createdAt,
    deadlineAt: deadlineMillis + seconds * 1000,
    attempts: [isKnown ? { ...attempt, usualMillis: seconds * 1000 } : attempt],
  };
  let polls = 1;
  for (let at = firstPollSeconds; at < seconds; polls += 1) at += nextPollSeconds(creation, at * 1000);
  return polls;
}

/** The polls of a client that polls at one pace, whatever the service says. */
export function pollsAt(paceSeconds: number, seconds: number): number {
  return Math.max(1, Math.ceil(seconds / paceSeconds));
}

/**
 * 'synchronous': one call that is answered with the picture or its address. 'callback': a job, and the vendor calls
 * back when the job has ended. 'polled': a job that the renderer asks about until it has ended.
 */
export const kindTitles = {
  synchronous: 'answers in one call',
  callback: 'calls back',
  polled: 'is asked about its job',
} as const;
export type VendorKind = keyof typeof kindTitles;

const fakeOf: Readonly<Partial<Record<ProviderName, Fake>>> = fakes;

/** A vendor that can lose a job has jobs, as its fake states. The sandboxes have no fake. */
export function kindOf(name: ProviderName): VendorKind {
  if (canCallBack(name)) return 'callback';
  return typeof fakeOf[name]?.ways['job lost'] === 'string' ? 'polled' : 'synchronous';
}

export const vendorNames = Object.keys(providers) as ProviderName[];

/** The titles of the vendors of a kind, without the sandboxes. */
export function vendorTitles(kind: VendorKind): string {
  const named = vendorNames.filter((name) => kindOf(name) === kind && providers[name].credential !== 'none');
  return named.map((name) => providers[name].title).join(', ');
}
