import type { OperateServices } from '../../services/portal-operate.ts';
import type { PortalHandle } from '../http/caller.ts';
import { operatedView, readOperated } from './operated-account.ts';

/** GET /operator/accounts/{id}. */
export const showAccount: PortalHandle<'showAccount', OperateServices> = async (
  { pathId },
  _caller,
  services,
) => ({
  status: 200,
  body: operatedView(await readOperated(pathId, services)),
});
