/** The endpoints for webhooks of an account, with what became of their attempts in the last 24 hours. */
import type { EndpointRow } from '../../contract/portal-views.ts';
import type { Delivery } from '../../webhooks/delivery.ts';
import { type Endpoint, endpointEvents, mostEndpoints } from '../../webhooks/endpoint.ts';
import { sampleBody } from '../../webhooks/samples.ts';
import { deliveryReason, isTest } from '../delivery-view.ts';
import type { ReadHandle } from './open.ts';

const dayMillis = 86_400_000;

/** GET /webhooks/endpoints: the oldest first. Of a very long log, the newest thousands of attempts count. */
export const listPortalEndpoints: ReadHandle<'listPortalEndpoints'> = async (
  _request,
  { account, nowMillis },
  { endpoints, deliveries },
) => {
  const { list } = await endpoints.read(account.id);
  const attempts = list.length === 0 ? [] : await deliveries.since(account.id, nowMillis - dayMillis);
  const data = list.map((endpoint) =>
    rowOf(
      endpoint,
      attempts.filter((one) => one.endpointId === endpoint.id && !isTest(one)),
    ),
  );
  const at = new Date(nowMillis).toISOString();
  const samples = Object.fromEntries(endpointEvents.map((event) => [event, sampleBody(event, at)]));
  return { status: 200, body: { data, samples, limit: mostEndpoints } };
};

/** @param attempts the newest first */
function rowOf(endpoint: Endpoint, attempts: readonly Delivery[]): EndpointRow {
  const failure = attempts.find(({ outcome }) => outcome === 'failed');
  const { id, url, description, events, enabled, disabledReason, createdAt, failingSince } = endpoint;
  return {
    ...{ id, url, description, events, enabled },
    disabled_reason: disabledReason ?? null,
    created_at: createdAt,
    failing_since: failingSince === undefined ? null : new Date(failingSince).toISOString(),
    delivered: attempts.filter(({ outcome }) => outcome === 'delivered').length,
    failed: attempts.filter(({ outcome }) => outcome === 'failed').length,
    last_failure: failure ? { at: failure.startedAt, reason: deliveryReason(failure) ?? '' } : null,
  };
}
