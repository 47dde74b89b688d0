/** The endpoints for webhooks, as the people of an account manage them. */
import { changeEndpoint } from '../../webhooks/manage-endpoints.ts';
import type { ManageHandle } from './open.ts';

/** PATCH /webhooks/endpoints/{id}. */
export const changePortalEndpoint: ManageHandle<'changePortalEndpoint'> = async (
  request,
  { account },
  services,
) => {
  const { id, enabled } = await changeEndpoint(request, account.id, services);
  return { status: 200, body: { id }, logged: { note: `${id} ${enabled ? 'on' : 'off'}` } };
};
