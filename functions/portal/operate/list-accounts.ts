import type { OperatedAccount, PageView } from '../../../core/portal/views.ts';
import type { OperateServices } from '../../services/portal-operate.ts';
import type { PortalHandle } from '../http/caller.ts';
import { cursorWords, fromCursor, parametersOf, toCursor } from '../read/parameters.ts';
import { operatedView } from './operated-account.ts';

/** GET /operator/accounts: the oldest first. */
export const listAccounts: PortalHandle<'listAccounts', OperateServices> = async (
  request,
  _caller,
  { operated },
) => {
  const parameters = parametersOf(request);
  const limit = parameters.limit();
  const after = parameters.read('cursor', placeIn, cursorWords);
  parameters.check();
  const page = await operated.accounts(limit, after);
  const view: PageView<OperatedAccount> = {
    data: page.accounts.map(operatedView),
    next_cursor: page.after === undefined ? null : toCursor(page.after),
  };
  return { status: 200, body: view };
};

/** The time at which an account was opened, and its id. */
function placeIn(text: string): string | undefined {
  const place = fromCursor(text);
  return typeof place === 'string' && /^[\dT:.Z-]{24}#[0-9A-Za-z]{10}$/.test(place) ? place : undefined;
}
