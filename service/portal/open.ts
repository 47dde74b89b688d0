/** Services that every function of the portal has. */
import type { Table } from '../aws/dynamodb/table.ts';
import { requestMillis } from '../contract/limits.ts';
import { commonOf, type OpenServices, type ServicesOf, tableOf } from '../platform/common.ts';
import { sandboxSetting } from '../platform/environment.ts';
import type { On } from '../platform/platform.ts';
import { startBudget } from '../values/time.ts';
import { createActionLog } from '../operated/action-store.ts';
import { createPortalAccess } from './session-store.ts';
import type { PortalSettings } from './settings.ts';

export type PortalPlatform = On<'dynamodb' | 'originSecrets'>;
export type PortalServices = ServicesOf<typeof openPortal>;

function openPortal(on: PortalPlatform) {
  const table = tableOf(on);
  const sandbox = sandboxSetting(on.environment);
  const base = {
    ...commonOf(on, 'portal'),
    settings: portalSettings(on),
    originSecrets: on.originSecrets,
  };
  return () => {
    const budget = startBudget(on.clock, requestMillis);
    const store = { ...table, signal: budget.signal };
    return {
      ...base,
      schema: on.schema(),
      budget,
      access: createPortalAccess(store, sandbox),
      actions: createActionLog(store),
    };
  };
}

/** The portal's services, and more. @param more opens them over the table of one request */
export function openPortalWith<More>(
  on: PortalPlatform,
  more: (store: Table & { readonly signal: AbortSignal }, portal: PortalServices) => More,
): OpenServices<PortalServices & More> {
  const table = tableOf(on);
  const open = openPortal(on);
  return () => {
    const portal = open();
    return { ...portal, ...more({ ...table, signal: portal.budget.signal }, portal) };
  };
}

function portalSettings({ environment }: On): PortalSettings {
  const stated = JSON.parse(environment('PORTAL_SETTINGS')) as StatedSettings;
  return {
    portalUrl: new URL(environment('PORTAL_URL')),
    apiUrl: environment('API_URL'),
    emailsAreVerified: stated.emails_are_verified,
    hasAuthTime: stated.has_auth_time,
    paymentUrl: stated.payment_url,
    takesPayments: stated.takes_payments === true,
    contact: stated.contact,
    credentialsUrl: stated.credentials_url,
    inboxUrl: stated.inbox_url,
  };
}

interface StatedSettings {
  readonly emails_are_verified: boolean;
  readonly has_auth_time: boolean;
  readonly payment_url: string | null;
  /** Absent: the stack takes no payments. */
  readonly takes_payments?: boolean;
  readonly contact: string | null;
  readonly credentials_url: string | null;
  readonly inbox_url: string | null;
}
