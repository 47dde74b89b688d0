import { isPlayground } from '../../../core/api-keys.ts';
import { keyView } from '../../../core/portal/key-view.ts';
import type { ReadServices } from '../../services/portal-read.ts';
import type { PortalHandle } from '../http/caller.ts';

/** GET /keys: all keys of the account but that of the playground. */
export const listKeys: PortalHandle<'listKeys', ReadServices> = async (_request, caller, { reads }) => {
  const keys = await reads.keys(caller.account.id);
  const data = keys.filter((key) => !isPlayground(key)).map((key) => keyView(key, caller.nowMillis));
  return { status: 200, body: { data, next_cursor: null } };
};
