import type { PortalOperationName } from '../../contract/operations.ts';
import type { PortalHandle } from '../http/caller.ts';
import { createAccountSettings } from '../../accounts/account-settings-store.ts';
import { createKeyStore } from '../../accounts/key-store.ts';
import { type CatalogPlatform, catalogsOf } from '../../api/open.ts';
import { createCreationReads } from '../../creations/creation-reads.ts';
import { createExecutions } from '../../creations/executions.ts';
import { createNoticeExecutions } from '../../notices/notice-executions.ts';
import { createMonthSpent } from '../../notices/spend-reads.ts';
import { createNoticeMarks } from '../../notices/notice-store.ts';
import { machinesOf, type ServicesOf } from '../../platform/common.ts';
import { outboundRules } from '../../platform/environment.ts';
import type { On } from '../../platform/platform.ts';
import { createDeliveryStore } from '../../webhooks/delivery-store.ts';
import { createEndpointStore } from '../../webhooks/endpoint-store.ts';
import { openPortalWith, type PortalPlatform } from '../open.ts';
import { createPeopleStore } from '../people-store.ts';

export type ManageServices = ServicesOf<typeof openPortalManage>;
export type ManageHandle<Name extends PortalOperationName> = PortalHandle<Name, ManageServices>;

export function openPortalManage(
  on: PortalPlatform &
    CatalogPlatform &
    On<'states' | 'outbound' | 'secretBox' | 'registration' | 'removeTopic'>,
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
    endpoints: createEndpointStore(store),
    executions: createExecutions(on.states, machines, store.signal),
    notices: createNoticeMarks(store),
    monthSpent: createMonthSpent(store),
    removeTopic: on.removeTopic,
    noticeExecutions: createNoticeExecutions(on.states, noticeMachine, store.signal),
  }));
}
