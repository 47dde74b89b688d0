import { requestCursor, requestQueryOf, requestView } from '../../api/list-requests.ts';
import type { TabHandle } from './open.ts';

/** GET /requests: as in the API, with the names of the keys. */
export const listPortalRequests: TabHandle<'listPortalRequests'> = async (
  request,
  { account },
  { requestLog, reads },
) => {
  const query = requestQueryOf(request);
  const [{ requests, next }, keys] = await Promise.all([
    requestLog.page(account.id, query),
    reads.keys(account.id),
  ]);
  const names = new Map<string, string>(keys.map(({ id, name }) => [id, name]));
  const data = requests.map((one) => {
    const { created_at: at, duration_ms: ms, creation_id: creation, key, ...view } = requestView(one);
    return { id: one.place, at, ms, creation, key: { id: key, name: names.get(key) ?? key }, ...view };
  });
  return { status: 200, body: { data, next_cursor: requestCursor(next) } };
};
