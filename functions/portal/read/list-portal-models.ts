import { modelViews } from '../../../core/portal/model-view.ts';
import type { ReadServices } from '../../services/portal-read.ts';
import type { PortalHandle } from '../http/caller.ts';

/** GET /models: what the playground offers. */
export const listPortalModels: PortalHandle<'listPortalModels', ReadServices> = async (
  _request,
  { account, nowMillis },
  { catalogs, reads },
) => {
  const standing = await reads.service();
  const catalog = await catalogs.at(standing.catalogRevision);
  const data = modelViews(catalog, account.policy, standing, nowMillis);
  return { status: 200, body: { data, next_cursor: null } };
};
