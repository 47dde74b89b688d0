/** The endpoints for webhooks of an account: one function serves the four operations, by method. */
import { endpointView } from './endpoint.ts';
import { changeEndpoint, createEndpoint, deleteEndpoint } from './manage-endpoints.ts';
import type { Caller } from '../api/admit.ts';
import type { ApiAnswer } from '../api/answer.ts';
import type { EndpointApiServices } from './open-endpoints.ts';
import { type ApiRequest, checkQuery, unknownParameters } from '../api/request.ts';
import type { Handle } from '../api/serve.ts';

export const webhookEndpoints: Handle<EndpointApiServices> = async (request, caller, services) => {
  switch (request.method) {
    case 'POST':
      return create(request, caller, services);
    case 'PATCH':
      return change(request, caller, services);
    case 'DELETE':
      return remove(request, caller, services);
    default:
      return list(request, caller, services);
  }
};

/** GET /webhooks/endpoints: all of them, the oldest first. */
async function list(
  request: ApiRequest,
  { account }: Caller,
  { endpoints }: EndpointApiServices,
): Promise<ApiAnswer> {
  checkQuery(request, 'listEndpoints');
  const { list: all } = await endpoints.read(account.id);
  return { status: 200, body: { data: all.map(endpointView) } };
}

/** POST /webhooks/endpoints. */
async function create(
  request: ApiRequest,
  { account, rateSlot }: Caller,
  services: EndpointApiServices,
): Promise<ApiAnswer> {
  // Before the first write, so that a request that the rate refuses writes nothing.
  await rateSlot.take();
  const unknown = unknownParameters(request, 'createEndpoint');
  const { endpoint, isReplayed } = await createEndpoint(request, account.id, services, unknown);
  const headers = isReplayed ? { 'idempotent-replayed': 'true' } : {};
  return { status: 201, headers, body: endpointView(endpoint) };
}

/** PATCH /webhooks/endpoints/{id}. */
async function change(
  request: ApiRequest,
  { account, rateSlot }: Caller,
  services: EndpointApiServices,
): Promise<ApiAnswer> {
  await rateSlot.take();
  const unknown = unknownParameters(request, 'changeEndpoint');
  return { status: 200, body: endpointView(await changeEndpoint(request, account.id, services, unknown)) };
}

/** DELETE /webhooks/endpoints/{id}. */
async function remove(
  request: ApiRequest,
  { account, rateSlot }: Caller,
  services: EndpointApiServices,
): Promise<ApiAnswer> {
  checkQuery(request, 'deleteEndpoint');
  await rateSlot.take();
  await deleteEndpoint(request, account.id, services);
  return { status: 204, body: undefined };
}
