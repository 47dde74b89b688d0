/** The Lambda function of what clients change by themselves: keys, webhooks, alerts and people. */
import { atFirstRequest } from '../services/open.ts';
import { openPortalManage, type ManageServices } from '../services/portal-manage.ts';
import {
  base,
  catalog,
  dynamodb,
  originSecrets,
  outbound,
  registration,
  secretBox,
  states,
} from '../services/lambda.ts';
import { servePortal, type PortalHandlers } from './http/serve-portal.ts';
import { changeKey } from './manage/change-key.ts';
import { changePerson } from './manage/change-person.ts';
import { createKey } from './manage/create-key.ts';
import { endSessions } from './manage/end-sessions.ts';
import { invitePerson } from './manage/invite-person.ts';
import { redeliverCreation } from './manage/redeliver-creation.ts';
import { redeliverFailed } from './manage/redeliver-failed.ts';
import { removePerson } from './manage/remove-person.ts';
import { revealSecret } from './manage/reveal-secret.ts';
import { revokeKey } from './manage/revoke-key.ts';
import { rollKey } from './manage/roll-key.ts';
import { rotateSecret } from './manage/rotate-secret.ts';
import { setAlerts } from './manage/set-alerts.ts';
import { testWebhook } from './manage/test-webhook.ts';
import { withdrawInvitation } from './manage/withdraw-invitation.ts';

export const manageHandlers: PortalHandlers<'manage', ManageServices> = {
  createKey,
  changeKey,
  revokeKey,
  rollKey,
  redeliverCreation,
  revealSecret,
  rotateSecret,
  testWebhook,
  redeliverFailed,
  setAlerts,
  invitePerson,
  changePerson,
  removePerson,
  endSessions,
  withdrawInvitation,
};

export const handler = servePortal(
  'manage',
  manageHandlers,
  atFirstRequest(() =>
    openPortalManage({
      ...base(),
      dynamodb: dynamodb(),
      originSecrets: originSecrets(),
      states: states(),
      catalog,
      outbound: outbound(),
      secretBox: secretBox(),
      registration,
    }),
  ),
);
