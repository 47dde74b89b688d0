/** What a number of creations costs, by vendor and time, computed from the counts of docs/cost.md. */
import type { ProviderName } from '../../core/providers.ts';
import { metrics, type MetricDefinition } from '../../core/metrics.ts';
import { billFor, billParts, renderedBy, totalOf, waitFor, type Memory } from './bill.ts';
import type { CreationKind, CreationCount } from './measure.ts';
import { isRenderer } from '../function-name.ts';
import { fetchedBill, storedBill, trafficBill, usualMegabytes } from './images.ts';
import { pollsUntil } from './polls.ts';
import { prices } from './prices.ts';
import { auditMonth, keptMonth } from './standing.ts';
import { vendorKindOf, type VendorKind } from './vendors.ts';

type Kinds = Readonly<Record<CreationKind, CreationCount>>;

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

/** What the measurement knows. */
export interface Measurements {
  readonly kinds: Kinds;
  readonly memory: Memory;
}

export interface Estimate {
  readonly kind: VendorKind;
  /** How often a customer polls one creation. */
  readonly polls: number;
  /** USD for one thousand creations, by part. */
  readonly perThousand: Readonly<Record<string, number>>;
  /** USD for all creations. */
  readonly all: number;
}

/** USD for 1,000 creations, in the parts of the bill. Every creation ends with an image. */
export function estimate(order: Order, measured: Measurements): Estimate {
  const { creations, seconds, vendor, following, megabytes = usualMegabytes } = order;
  const kind = vendorKindOf(vendor);
  const hasWebhook = following === 'webhook';
  const polls = hasWebhook ? 0 : pollsUntil(seconds);
  const perThousand = {
    ...serviceBill({ kind, seconds, hasWebhook, renderer: order.renderer ?? 'RenderImageSmall' }, measured),
    Polls: polls * pollBill(measured),
    'Pictures, stored for 31 days': storedBill(megabytes),
    'Pictures, fetched once each': fetchedBill(megabytes),
    'Other traffic': trafficBill({ polls, hasWebhook }),
    'Records, in the first month': keptMonth(measured.kinds['success, webhook'].storedBytes) + auditMonth(),
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
  { kinds, memory }: Measurements,
): Readonly<Record<string, number>> {
  const own = ownRenderMillis(kinds);
  const bill = (of: CreationKind): Readonly<Record<string, number>> => ({
    ...billFor(renderedBy(renderer, kinds[of]), memory, own),
  });
  const [quiet, told, calledBack] = [
    bill('success'),
    bill('success, webhook'),
    bill('success, webhook, callback'),
  ];
  const parts = billParts.map((part): [string, number] => {
    const withWebhook = kind === 'callback' ? amount(calledBack, part) : amount(told, part);
    // What a webhook adds does not depend on the vendor.
    return [part, hasWebhook ? withWebhook : withWebhook - amount(told, part) + amount(quiet, part)];
  });
  return {
    ...Object.fromEntries(parts),
    'Waiting for the vendor': waitingBill(kind, seconds, renderer, memory),
  };
}

/** A job that is polled is noted with its id, in one more write. A vendor that calls back keeps nobody waiting. */
function waitingBill(kind: VendorKind, seconds: number, renderer: RendererName, memory: Memory): number {
  if (kind === 'callback') return 0;
  return waitFor(seconds, renderer, memory) + (kind === 'polled' ? 1000 * prices.writeUnit : 0);
}

/** USD for 1,000 polls. */
export function pollBill({ kinds, memory }: Measurements): number {
  return totalOf(billFor(kinds.poll, memory, ownRenderMillis(kinds)));
}

function amount(bill: Readonly<Record<string, number>>, part: string): number {
  return bill[part] ?? 0;
}

/** The CPU time of the renderer without a painting: that of a creation that fails. */
export function ownRenderMillis(kinds: Kinds): number {
  const functions = Object.entries(kinds['failure, webhook'].functions);
  return functions.find(([name]) => isRenderer(name))?.[1].cpuMillis ?? 0;
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
