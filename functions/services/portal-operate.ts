import { createAccountStore } from '../../adapters/dynamodb/account-store.ts';
import { createCreationReads } from '../../adapters/dynamodb/creation-reads.ts';
import { createNoticeStore } from '../../adapters/dynamodb/notice-store.ts';
import { createOperatedReads } from '../../adapters/dynamodb/operated-reads.ts';
import { createPeopleStore } from '../../adapters/dynamodb/portal/people-store.ts';
import { createProviderStore } from '../../adapters/dynamodb/provider-store.ts';
import { createWalletStore } from '../../adapters/dynamodb/wallet-store.ts';
import { createNoticeExecutions } from '../../adapters/step-functions.ts';
import type { AccountLimits } from '../../core/limits.ts';
import type { ServicesOf } from './open.ts';
import type { On } from './platform.ts';
import { openPortalWith, type PortalPlatform } from './portal.ts';

/** For the operator's pages. */
export type OperateServices = ServicesOf<typeof openPortalOperate>;

export function openPortalOperate(on: PortalPlatform & On<'states' | 'registration'>) {
  const noticeMachine = on.environment('NOTICE_MACHINE_ARN');
  /** The limits of an account that is opened without its own. A setting of the deployment. */
  const defaultLimits = JSON.parse(on.environment('DEFAULT_LIMITS')) as AccountLimits;
  return openPortalWith(on, (store) => ({
    defaultLimits,
    accounts: createAccountStore(store),
    operated: createOperatedReads(store),
    wallet: createWalletStore(store),
    people: createPeopleStore(store),
    ...on.registration(store.signal),
    creations: createCreationReads(store),
    notices: createNoticeStore(store),
    noticeExecutions: createNoticeExecutions(on.states, noticeMachine, store.signal),
    providers: createProviderStore(store),
  }));
}
