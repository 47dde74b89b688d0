/** The endpoints of an account: addresses that get the events that they ask for (docs/api.md, "Endpoints"). */
import { type NoticeType, noticeTypes } from '../notices/notice.ts';
import type { EndpointId } from '../values/ids.ts';
import { endedEvents } from './webhook.ts';

/** An end of a creation writes all of its endpoints into one item, so their number is bounded. */
export const mostEndpoints = 10;

const dayMillis = 86_400_000;
/**
 * How long every attempt of an endpoint must have failed before the notice, and before it is switched off.
 */
export const failingMillis = { told: 4 * dayMillis, disabled: 5 * dayMillis } as const;

export type EndpointEvent = (typeof endedEvents)[number] | NoticeType;
export const endpointEvents: readonly EndpointEvent[] = [...endedEvents, ...noticeTypes];

export interface Endpoint {
  readonly id: EndpointId;
  readonly url: string;
  readonly description: string;
  readonly events: readonly EndpointEvent[];
  readonly enabled: boolean;
  /** Why the service switched the endpoint off. Absent: it is on, or a person switched it off. */
  readonly disabledReason?: 'failing';
  readonly createdAt: string;
  /** Of the request that made it, if that had an Idempotency-Key. */
  readonly requestHash?: string;
  /** Unix milliseconds: since then every attempt failed. Absent: the last attempt was delivered. */
  readonly failingSince?: number;
  /** Unix milliseconds: when the notice endpoint.failing about this streak of failures was sent. */
  readonly toldAt?: number;
}

/** All endpoints of an account, as one read gives them. `revision` counts the writes of the item. */
export interface Endpoints {
  readonly revision: number;
  readonly list: readonly Endpoint[];
}

/** The enabled endpoints that ask for the event. */
export function askingFor(event: string, { list }: Endpoints): readonly Endpoint[] {
  return list.filter(({ enabled, events }) => enabled && events.some((one) => one === event));
}

/** What the item of the account says of its endpoints, so that others read nothing more. */
export function flagsOf(
  list: readonly Pick<Endpoint, 'enabled' | 'events'>[],
): Readonly<Record<'creationEndpoints' | 'noticeEndpoints', boolean>> {
  const asks = (names: readonly string[]): boolean =>
    list.some(({ enabled, events }) => enabled && events.some((event) => names.includes(event)));
  return { creationEndpoints: asks(endedEvents), noticeEndpoints: asks(noticeTypes) };
}

export interface EndpointChange {
  readonly url?: string;
  readonly description?: string;
  readonly events?: readonly EndpointEvent[];
  readonly enabled?: boolean;
}

/** A new address, or switching on again, resets the streak of failures. */
export function changed(endpoint: Endpoint, change: EndpointChange): Endpoint {
  const next = { ...endpoint, ...change };
  const { disabledReason, failingSince, toldAt, ...fresh } = next;
  return next.url !== endpoint.url || (next.enabled && !endpoint.enabled) ? fresh : next;
}

export function endpointView(endpoint: Endpoint): Readonly<Record<string, unknown>> {
  const { id, url, description, events, enabled, disabledReason, createdAt } = endpoint;
  return {
    id,
    url,
    description,
    events,
    enabled,
    disabled_reason: disabledReason ?? null,
    created_at: createdAt,
  };
}
