import { createAccountSettings } from '../../adapters/dynamodb/account-settings.ts';
import { createCreationReads } from '../../adapters/dynamodb/creation-reads.ts';
import { createDeliveryStore } from '../../adapters/dynamodb/delivery-store.ts';
import { createKeyStore } from '../../adapters/dynamodb/key-store.ts';
import { createNoticeMarks } from '../../adapters/dynamodb/notice-store.ts';
import { createPeopleStore } from '../../adapters/dynamodb/portal/people-store.ts';
import { createExecutions, createNoticeExecutions } from '../../adapters/step-functions.ts';
import { catalogsOf, type CatalogPlatform } from './api.ts';
import { machinesOf } from './common.ts';
import { outboundRules } from './environment.ts';
import type { ServicesOf } from './open.ts';
import type { On } from './platform.ts';
import { openPortalWith, type PortalPlatform } from './portal.ts';

/** For what clients change by themselves: keys, webhooks, alerts and people. */
export type ManageServices = ServicesOf<typeof openPortalManage>;

export function openPortalManage(
  on: PortalPlatform & CatalogPlatform & On<'states' | 'outbound' | 'secretBox' | 'registration'>,
) {
  const machines = machinesOf(on);
  const noticeMachine = on.environment('NOTICE_MACHINE_ARN');
  const catalogs = catalogsOf(on);
  const base = {
    outbound: on.outbound,
    outboundRules: outboundRules(on.environment),
    secretBox: on.secretBox,
  };
  return openPortalWith(on, (store) => ({
    ...base,
    catalogs: catalogs(store),
    keys: createKeyStore(store),
    accounts: createAccountSettings(store),
    people: createPeopleStore(store),
    ...on.registration(store.signal),
    creations: createCreationReads(store),
    deliveries: createDeliveryStore(store),
    executions: createExecutions(on.states, machines, store.signal),
    notices: createNoticeMarks(store),
    noticeExecutions: createNoticeExecutions(on.states, noticeMachine, store.signal),
  }));
}
