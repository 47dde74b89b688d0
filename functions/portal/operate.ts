/** The Lambda function of the operator's pages. */
import { atFirstRequest } from '../services/open.ts';
import { openPortalOperate, type OperateServices } from '../services/portal-operate.ts';
import { base, dynamodb, originSecrets, registration, states } from '../services/lambda.ts';
import { servePortal, type PortalHandlers } from './http/serve-portal.ts';
import { changeAccount } from './operate/change-account.ts';
import { getMargin } from './operate/get-margin.ts';
import { inviteToAccount } from './operate/invite-to-account.ts';
import { listAccounts } from './operate/list-accounts.ts';
import { listFailingWebhooks } from './operate/list-failing-webhooks.ts';
import { listProviders } from './operate/list-providers.ts';
import { openAccount } from './operate/open-account.ts';
import { showAccount } from './operate/show-account.ts';
import { topUpAccount } from './operate/top-up-account.ts';

export const operateHandlers: PortalHandlers<'operate', OperateServices> = {
  listAccounts,
  openAccount,
  showAccount,
  changeAccount,
  topUpAccount,
  inviteToAccount,
  listFailingWebhooks,
  listProviders,
  getMargin,
};

export const handler = servePortal(
  'operate',
  operateHandlers,
  atFirstRequest(() =>
    openPortalOperate({
      ...base(),
      dynamodb: dynamodb(),
      originSecrets: originSecrets(),
      states: states(),
      registration,
    }),
  ),
);
