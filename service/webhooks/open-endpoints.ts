import { type ApiPlatform, openApiWith } from '../api/open.ts';
import type { ServicesOf } from '../platform/common.ts';
import { outboundRules } from '../platform/environment.ts';
import type { On } from '../platform/platform.ts';
import { createEndpointStore } from './endpoint-store.ts';

export type EndpointApiServices = ServicesOf<typeof openEndpoints>;

export function openEndpoints(on: ApiPlatform & On<'outbound'>) {
  const rules = outboundRules(on.environment);
  const { outbound } = on;
  return openApiWith(on, (store) => ({
    endpoints: createEndpointStore(store),
    outbound,
    outboundRules: rules,
  }));
}
