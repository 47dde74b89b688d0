/** The Lambda function of what clients change by themselves: keys, webhooks, alerts and people. */
import type { PortalHandlers } from '../http/serve-portal.ts';
import { setBudget } from './budget.ts';
import { addEndpoint, changePortalEndpoint, removeEndpoint } from './endpoints.ts';
import { changeKey, createKey, revokeKey, rollKey } from './keys.ts';
import type { ManageServices } from './open.ts';
import { changePerson, endSessions, invitePerson, removePerson, withdrawInvitation } from './people.ts';
import {
  redeliverCreation,
  redeliverFailed,
  revealSecret,
  rotateSecret,
  setAlerts,
  testWebhook,
} from './webhooks.ts';

export const manageHandlers: PortalHandlers<'manage', ManageServices> = {
  createKey,
  changeKey,
  revokeKey,
  rollKey,
  redeliverCreation,
  revealSecret,
  rotateSecret,
  testWebhook,
  addEndpoint,
  changePortalEndpoint,
  removeEndpoint,
  redeliverFailed,
  setAlerts,
  setBudget,
  invitePerson,
  changePerson,
  removePerson,
  endSessions,
  withdrawInvitation,
};
