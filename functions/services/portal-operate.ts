import { SFNClient } from '@aws-sdk/client-sfn';
import { callLimits } from '../../adapters/call-limits.ts';
import { createAccountStore, type AccountStore } from '../../adapters/dynamodb/account-store.ts';
import { createCreationReads } from '../../adapters/dynamodb/creation-reads.ts';
import { createNoticeStore } from '../../adapters/dynamodb/notice-store.ts';
import { createOperatedReads } from '../../adapters/dynamodb/operated-reads.ts';
import { createPeopleStore } from '../../adapters/dynamodb/portal/people-store.ts';
import { createProviderStore, type ProviderStore } from '../../adapters/dynamodb/provider-store.ts';
import { createWalletStore } from '../../adapters/dynamodb/wallet-store.ts';
import { createNoticeExecutions } from '../../adapters/step-functions.ts';
import type { AccountLimits } from '../../core/limits.ts';
import type { CreationReads } from '../../core/ports/creations.ts';
import type { NoticeExecutions, NoticeStore } from '../../core/ports/notices.ts';
import type { OperatedReads } from '../../core/ports/operated.ts';
import type { PeopleStore } from '../../core/ports/people.ts';
import type { Wallet } from '../../core/ports/wallet.ts';
import { table } from './clients.ts';
import { environment } from './environment.ts';
import type { OpenServices } from './open.ts';
import { openPortal, type PortalServices } from './portal.ts';
import { registration, type Registration } from './register-user.ts';

/** For the operator's pages. */
export interface OperateServices extends PortalServices, Registration {
  readonly accounts: Pick<AccountStore, 'create' | 'read' | 'change' | 'changeAsRead'>;
  readonly operated: OperatedReads;
  readonly wallet: Wallet;
  readonly people: PeopleStore;
  readonly creations: Pick<CreationReads, 'readAll'>;
  readonly notices: NoticeStore;
  readonly noticeExecutions: NoticeExecutions;
  readonly providers: Pick<ProviderStore, 'enabled'>;
  /** The limits of an account that is opened without its own. A setting of the deployment. */
  readonly defaultLimits: AccountLimits;
}

export function operateServices(): OpenServices<OperateServices> {
  const shared = table();
  const open = openPortal(shared);
  const states = new SFNClient(callLimits());
  const noticeMachine = environment('NOTICE_MACHINE_ARN');
  const base = {
    defaultLimits: JSON.parse(environment('DEFAULT_LIMITS')) as AccountLimits,
  };
  return () => {
    const portal = open();
    const { signal } = portal.budget;
    const store = { ...shared, signal };
    return {
      ...portal,
      ...base,
      accounts: createAccountStore(store),
      operated: createOperatedReads(store),
      wallet: createWalletStore(store),
      people: createPeopleStore(store),
      ...registration(signal),
      creations: createCreationReads(store),
      notices: createNoticeStore(store),
      noticeExecutions: createNoticeExecutions(states, noticeMachine, signal),
      providers: createProviderStore(store),
    };
  };
}
