/** Everything that the pages of an account read. It writes nothing but the sums of days that are over. */
import type { ApiHandler } from '../http/framed.ts';
import { atFirstRequest, type OpenServices } from '../services/open.ts';
import { openPortalRead, type ReadServices } from '../services/portal-read.ts';
import { base, catalog, dynamodb, originSecrets } from '../services/lambda.ts';
import { servePortal, type PortalHandlers } from './http/serve-portal.ts';
import { exportLedger } from './read/export-ledger.ts';
import { exportUsage } from './read/export-usage.ts';
import { getAccount } from './read/get-account.ts';
import { getAlerts } from './read/get-alerts.ts';
import { getDelivery } from './read/get-delivery.ts';
import { getHome } from './read/get-home.ts';
import { getMe } from './read/get-me.ts';
import { getPortalCreation } from './read/get-portal-creation.ts';
import { getUsage } from './read/get-usage.ts';
import { getWebhooks } from './read/get-webhooks.ts';
import { listActions } from './read/list-actions.ts';
import { listDeliveries } from './read/list-deliveries.ts';
import { listKeys } from './read/list-keys.ts';
import { listLedger } from './read/list-ledger.ts';
import { listPeople } from './read/list-people.ts';
import { listPortalCreations } from './read/list-portal-creations.ts';
import { listPortalModels } from './read/list-portal-models.ts';

const handlers: PortalHandlers<'read', ReadServices> = {
  getMe,
  getHome,
  getAccount,
  listKeys,
  listPortalModels,
  listPortalCreations,
  getPortalCreation,
  getWebhooks,
  listDeliveries,
  getDelivery,
  listLedger,
  exportLedger,
  getUsage,
  exportUsage,
  getAlerts,
  listPeople,
  listActions,
};

export function serveRead(open: OpenServices<ReadServices>): ApiHandler {
  return servePortal('read', handlers, open);
}

export const handler = serveRead(
  atFirstRequest(() =>
    openPortalRead({ ...base(), dynamodb: dynamodb(), originSecrets: originSecrets(), catalog }),
  ),
);
