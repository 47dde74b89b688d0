/** The endpoints for webhooks, as the people of an account manage them. */
import { changeEndpoint, createEndpoint, deleteEndpoint } from '../../webhooks/manage-endpoints.ts';
import type { ManageHandle } from './open.ts';

/** POST /webhooks/endpoints. */
export const addEndpoint: ManageHandle<'addEndpoint'> = async (request, { account }, services) => {
  const { endpoint } = await createEndpoint(request, account.id, services);
  return { status: 201, body: { id: endpoint.id }, logged: { note: endpoint.id } };
};

/** PATCH /webhooks/endpoints/{id}. */
export const changePortalEndpoint: ManageHandle<'changePortalEndpoint'> = async (
  request,
  { account },
  services,
) => {
  const { id, enabled } = await changeEndpoint(request, account.id, services);
  return { status: 200, body: { id }, logged: { note: `${id} ${enabled ? 'on' : 'off'}` } };
};

/** DELETE /webhooks/endpoints/{id}. */
export const removeEndpoint: ManageHandle<'removeEndpoint'> = async (request, { account }, services) => {
  await deleteEndpoint(request, account.id, services);
  return { status: 200, body: {}, logged: { note: request.pathId } };
};
