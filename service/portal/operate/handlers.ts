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
import { getMargin, listFailingWebhooks, listOperatorKeys, listProviders } from './service.ts';

export const operateHandlers: PortalHandlers<'operate', OperateServices> = {
  listAccounts,
  openAccount,
  showAccount,
  changeAccount,
  topUpAccount,
  inviteToAccount,
  listFailingWebhooks,
  listProviders,
  listOperatorKeys,
  getMargin,
};
