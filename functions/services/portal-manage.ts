import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SFNClient } from '@aws-sdk/client-sfn';
import { callLimits } from '../../adapters/call-limits.ts';
import { createAccountSettings } from '../../adapters/dynamodb/account-settings.ts';
import { createCreationReads } from '../../adapters/dynamodb/creation-reads.ts';
import { createDeliveryStore } from '../../adapters/dynamodb/delivery-store.ts';
import { createKeyStore } from '../../adapters/dynamodb/key-store.ts';
import { createNoticeMarks } from '../../adapters/dynamodb/notice-store.ts';
import { createPeopleStore } from '../../adapters/dynamodb/portal/people-store.ts';
import { createSecretBox } from '../../adapters/secret-box.ts';
import { createExecutions, createNoticeExecutions } from '../../adapters/step-functions.ts';
import { systemClock } from '../../adapters/system-clock.ts';
import type { OutboundRules } from '../../core/client-url.ts';
import type { AccountSettings } from '../../core/ports/account-settings.ts';
import type { CreationReads } from '../../core/ports/creations.ts';
import type { DeliveryStore } from '../../core/ports/deliveries.ts';
import type { Executions } from '../../core/ports/executions.ts';
import type { KeyStore } from '../../core/ports/keys.ts';
import type { NoticeExecutions, NoticeMarks } from '../../core/ports/notices.ts';
import type { Outbound } from '../../core/ports/outbound.ts';
import type { PeopleStore } from '../../core/ports/people.ts';
import type { SecretBox } from '../../core/ports/secret-box.ts';
import type { SoldCatalogs } from '../../core/sold-catalog.ts';
import { openCatalogs } from './api.ts';
import { randomness, stateMachines, table } from './clients.ts';
import { environment } from './environment.ts';
import type { OpenServices } from './open.ts';
import { outbound, outboundRules } from './outbound.ts';
import { openPortal, type PortalServices } from './portal.ts';
import { registration, type Registration } from './register-user.ts';

/** For what clients change by themselves: keys, webhooks, alerts and people. */
export interface ManageServices extends PortalServices, Registration {
  readonly keys: KeyStore;
  readonly accounts: AccountSettings;
  readonly people: PeopleStore;
  readonly catalogs: Pick<SoldCatalogs, 'latest'>;
  readonly creations: CreationReads;
  readonly deliveries: DeliveryStore;
  readonly executions: Executions;
  readonly notices: NoticeMarks;
  readonly noticeExecutions: NoticeExecutions;
  readonly secretBox: SecretBox;
  readonly outbound: Outbound;
  readonly outboundRules: OutboundRules;
}

export function manageServices(): OpenServices<ManageServices> {
  const shared = table();
  const open = openPortal(shared);
  const states = new SFNClient(callLimits());
  const noticeMachine = environment('NOTICE_MACHINE_ARN');
  const catalogs = openCatalogs();
  const base = {
    outbound: outbound(),
    outboundRules: outboundRules(),
    secretBox: createSecretBox({
      client: new SecretsManagerClient(callLimits()),
      secretArn: environment('ENCRYPTION_SECRET_ARN'),
      clock: systemClock,
      randomBytes: randomness,
    }),
  };
  return () => {
    const portal = open();
    const { signal } = portal.budget;
    const store = { ...shared, signal };
    return {
      ...portal,
      ...base,
      catalogs: catalogs(store),
      keys: createKeyStore(store),
      accounts: createAccountSettings(store),
      people: createPeopleStore(store),
      ...registration(signal),
      creations: createCreationReads(store),
      deliveries: createDeliveryStore(store),
      executions: createExecutions(states, stateMachines(), signal),
      notices: createNoticeMarks(store),
      noticeExecutions: createNoticeExecutions(states, noticeMachine, signal),
    };
  };
}
