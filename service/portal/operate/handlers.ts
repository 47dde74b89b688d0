/** The Lambda function of the operator's pages. */
import type { PortalHandlers } from '../http/serve-portal.ts';
import {
  changeAccount,
  inviteToAccount,
  listAccounts,
  openAccount,
  showAccount,
  topUpAccount,
} from './accounts.ts';
import type { OperateServices } from './open.ts';
import { pauseRoute } from './providers.ts';
import { getMargin, listOperatorKeys } from './service.ts';

export const operateHandlers: PortalHandlers<'operate', OperateServices> = {
  listAccounts,
  openAccount,
  showAccount,
  changeAccount,
  topUpAccount,
  inviteToAccount,
  pauseRoute,
  listOperatorKeys,
  getMargin,
};
