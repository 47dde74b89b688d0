/** Services that every function of the portal has. */
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { callLimits } from '../../adapters/call-limits.ts';
import { createActionLog } from '../../adapters/dynamodb/portal/action-log.ts';
import { createPortalAccess } from '../../adapters/dynamodb/portal/session-store.ts';
import type { Table } from '../../adapters/dynamodb/table.ts';
import { createReplaceableSecret } from '../../adapters/plain-secret.ts';
import { systemClock } from '../../adapters/system-clock.ts';
import { requestMillis } from '../../core/limits.ts';
import type { PortalSettings } from '../../core/portal/settings.ts';
import type { ActionLog } from '../../core/ports/actions.ts';
import type { PortalAccess } from '../../core/ports/portal-access.ts';
import { startBudget, type TimeBudget } from '../../core/time-budget.ts';
import { commonServices, type CommonServices } from './clients.ts';
import { environment, sandboxSetting } from './environment.ts';
import type { OpenServices } from './open.ts';

export interface PortalServices extends CommonServices {
  /** The time of the request: every wait of these services ends with it. */
  readonly budget: TimeBudget;
  readonly access: PortalAccess;
  readonly actions: ActionLog;
  readonly settings: PortalSettings;
  /** What only the portal's distribution sends: one of these values, the newest or the one before it. */
  readonly originSecrets: () => Promise<readonly string[]>;
}

/** Over a table that the function uses for more than these services. */
export function openPortal(shared: Table): OpenServices<PortalServices> {
  const client = new SecretsManagerClient(callLimits());
  const secretArn = environment('ORIGIN_SECRET_ARN');
  return openPortalBehind(createReplaceableSecret({ client, secretArn, clock: systemClock }), shared);
}

/** For a function that reads the secret of the portal's distribution in a way of its own. */
export function openPortalBehind(
  originSecrets: () => Promise<readonly string[]>,
  shared: Table,
): OpenServices<PortalServices> {
  const sandbox = sandboxSetting();
  const base = { ...commonServices('portal'), settings: portalSettings(), originSecrets };
  return () => {
    const budget = startBudget(systemClock, requestMillis);
    const store = { ...shared, signal: budget.signal };
    return { ...base, budget, access: createPortalAccess(store, sandbox), actions: createActionLog(store) };
  };
}

function portalSettings(): PortalSettings {
  const stated = JSON.parse(environment('PORTAL_SETTINGS')) as StatedSettings;
  return {
    portalUrl: new URL(environment('PORTAL_URL')),
    apiUrl: environment('API_URL'),
    resultsBaseUrl: environment('RESULTS_BASE_URL'),
    emailsAreVerified: stated.emails_are_verified,
    hasAuthTime: stated.has_auth_time,
    paymentUrl: stated.payment_url,
    contact: stated.contact,
    credentialsUrl: stated.credentials_url,
    inboxUrl: stated.inbox_url,
  };
}

/** The value of PORTAL_SETTINGS, which the stack writes. */
interface StatedSettings {
  readonly emails_are_verified: boolean;
  readonly has_auth_time: boolean;
  readonly payment_url: string | null;
  readonly contact: string | null;
  readonly credentials_url: string | null;
  readonly inbox_url: string | null;
}
