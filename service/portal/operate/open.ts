import type { PortalOperationName } from '../../contract/operations.ts';
import type { PortalHandle } from '../http/caller.ts';
import { createAccountStore } from '../../accounts/account-store.ts';
import { createWalletStore } from '../../accounts/wallet-store.ts';
import { type CatalogPlatform, catalogsOf } from '../../api/open.ts';
import { createProviderStore } from '../../catalog/provider-store.ts';
import type { AccountLimits, ServiceAccess } from '../../contract/limits.ts';
import { createNoticeExecutions } from '../../notices/notice-executions.ts';
import { createNoticeStore } from '../../notices/notice-store.ts';
import { createOperatorKeyStore } from '../../operated/operator-key-store.ts';
import type { ServicesOf } from '../../platform/common.ts';
import type { On } from '../../platform/platform.ts';
import { createOperatedReads } from '../../usage/all-accounts-reads.ts';
import { openPortalWith, type PortalPlatform } from '../open.ts';
import { createPeopleStore } from '../people-store.ts';

export type OperateServices = ServicesOf<typeof openPortalOperate>;
export type OperateHandle<Name extends PortalOperationName> = PortalHandle<Name, OperateServices>;

export function openPortalOperate(on: PortalPlatform & CatalogPlatform & On<'states' | 'registration'>) {
  const catalogs = catalogsOf(on);
  const noticeMachine = on.environment('NOTICE_MACHINE_ARN');
  /** The limits of an account that is opened without its own. A setting of the deployment. */
  const defaultLimits = JSON.parse(on.environment('DEFAULT_LIMITS')) as AccountLimits;
  const resultAccess = on.environment('RESULTS') as ServiceAccess;
  return openPortalWith(on, (store) => ({
    defaultLimits,
    resultAccess,
    accounts: createAccountStore(store),
    operated: createOperatedReads(store),
    wallet: createWalletStore(store),
    ...on.registration(store.signal),
    people: createPeopleStore(store),
    catalogs: catalogs(store),
    notices: createNoticeStore(store),
    noticeExecutions: createNoticeExecutions(on.states, noticeMachine, store.signal),
    providers: createProviderStore(store),
    operatorKeys: createOperatorKeyStore(store),
  }));
}
