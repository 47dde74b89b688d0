import { modelViews } from '../../../core/portal/model-view.ts';
import type { AccountView } from '../../../core/portal/views.ts';
import type { ReadServices } from '../../services/portal-read.ts';
import type { PortalHandle } from '../http/caller.ts';

/** GET /account: its limits, what runs, its models, and how busy the service is. */
export const getAccount: PortalHandle<'getAccount', ReadServices> = async (_request, caller, services) => {
  const { account, nowMillis } = caller;
  const { limits } = account;
  const standing = await services.reads.service();
  const { openCreations, closed } = standing;
  const catalog = await services.catalogs.at(standing.catalogRevision);
  const body: AccountView = {
    id: account.id,
    name: account.name,
    condition: account.condition,
    created_at: account.createdAt,
    limits: {
      post_rate: limits.postRate,
      get_rate: limits.getRate,
      max_concurrent: limits.maxConcurrent,
      deadline_seconds: limits.deadlineSeconds,
      max_unused_uploads: limits.maxUnusedUploads,
    },
    in_flight: account.inFlight,
    service: {
      open_creations: openCreations,
      capacity: services.serviceCapacity,
      is_closed: closed !== undefined,
    },
    models: modelViews(catalog, account.policy, standing, nowMillis),
  };
  return { status: 200, body };
};
