/** Everything that the pages of an account read, and what the operator sees of all accounts. It writes nothing but the sums of days that are over. */
import type { ApiHandler } from '../../api/framed.ts';
import { portalOperations } from '../../contract/operations.ts';
import type { OpenServices } from '../../platform/common.ts';
import { type PortalHandlers, servePortal } from '../http/serve-portal.ts';
import { getAccount, getMe, listActions, listKeys, listPeople, showKey } from './account.ts';
import {
  listAccountCreations,
  listAccountDeliveries,
  listAccountKeys,
  listAccountLedger,
  listAccountPeople,
  listAccountRequests,
  showOperatedCreation,
} from './account-tabs.ts';
import { getPortalCreation, listPortalCreations, listPortalModels } from './creations.ts';
import { listFailingWebhooks } from './failing-webhooks.ts';
import { getHome } from './home.ts';
import { exportLedger, listLedger } from './ledger.ts';
import type { ReadServices } from './open.ts';
import { listPortalRequests } from './requests.ts';
import { listProviders } from './providers.ts';
import { findAnything } from './search.ts';
import { getService } from './service-now.ts';
import { getStatement } from './statement.ts';
import { exportUsage, getUsage } from './usage.ts';
import { listPortalEndpoints } from './endpoints.ts';
import { getAlerts, getDelivery, getWebhooks, listDeliveries } from './webhooks.ts';

const handlers: PortalHandlers<'read', ReadServices> = {
  getMe,
  getHome,
  getAccount,
  listKeys,
  showKey,
  listPortalModels,
  listPortalCreations,
  getPortalCreation,
  listPortalRequests,
  getWebhooks,
  listPortalEndpoints,
  listDeliveries,
  getDelivery,
  listLedger,
  exportLedger,
  getStatement,
  getUsage,
  exportUsage,
  getAlerts,
  listPeople,
  listActions,
  findAnything,
  getService,
  listAccountCreations,
  listAccountLedger,
  listAccountKeys,
  listAccountPeople,
  listAccountDeliveries,
  listAccountRequests,
  showOperatedCreation,
  listFailingWebhooks,
  listProviders,
};

export function serveRead(open: OpenServices<ReadServices>): ApiHandler {
  return servePortal('read', handlers, open, portalOperations);
}
