import type { ActionView } from '../../../core/portal/views.ts';
import type { ReadServices } from '../../services/portal-read.ts';
import type { PortalHandle } from '../http/caller.ts';
import { cursorWords, parametersOf } from './parameters.ts';

/** GET /audit: what people did in the portal, the newest first; ?limit and ?cursor. */
export const listActions: PortalHandle<'listActions', ReadServices> = async (
  request,
  { account },
  { actions },
) => {
  const parameters = parametersOf(request);
  const after = parameters.read('cursor', actionIn, cursorWords);
  const limit = parameters.limit();
  parameters.check();
  const page = await actions.list(account.id, limit, after);
  const data = page.actions.map((action): ActionView => ({
    id: action.id,
    at: action.at,
    email: action.email,
    action: action.action,
    target: action.target ?? null,
    outcome: action.outcome,
    note: action.note ?? null,
  }));
  return { status: 200, body: { data, next_cursor: page.after ?? null } };
};

/** The id of an action. */
function actionIn(text: string): string | undefined {
  return /^\d{4}-\d\d-\d\dT[\d:.]+Z#[\w-]{1,40}$/.test(text) ? text : undefined;
}
