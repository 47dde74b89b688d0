/** Small reads of the portal's pages. */
import type { AccountId, NoticeId, PersonId } from '../ids.ts';
import type { Member } from '../portal/people.ts';
import type { ApiKey } from '../account.ts';
import type { ProviderSwitches } from '../providers.ts';
import type { RequestState } from './requests.ts';
import type { ClosedService } from './service-switch.ts';

export interface NamedPlace extends Member {
  readonly accountName: string;
}

export interface PortalReads {
  /** All keys of the account, also that of the playground, the oldest first. */
  keys(account: AccountId): Promise<readonly ApiKey[]>;
  /**
   * The places of the person in these accounts, with the names of the accounts, and the switch of the service. Every
   * page asks for both, so they are one read.
   */
  placesAndSwitch(
    person: PersonId,
    accounts: readonly AccountId[],
  ): Promise<{ readonly places: readonly NamedPlace[]; readonly closed?: ClosedService }>;
  service(): Promise<Pick<RequestState, 'openCreations' | 'closed' | 'catalogRevision'> & ProviderSwitches>;
  /** Unix milliseconds of the last test delivery. */
  lastTestAt(account: AccountId): Promise<number | undefined>;
  /** The body of a notice. Undefined: the notice is gone. */
  noticeBody(account: AccountId, id: NoticeId): Promise<string | undefined>;
}
