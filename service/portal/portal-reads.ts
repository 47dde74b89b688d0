/** Reads that only pages of the portal make. */
import { apiKeyFromItem } from '../accounts/account-items.ts';
import type { ApiKey } from '../accounts/account.ts';
import { userTokenFromItem } from '../accounts/user-token-items.ts';
import type { UserToken } from '../accounts/user-token.ts';
import type { RequestState } from '../api/request-store.ts';
import { batchGet } from '../aws/dynamodb/batch-get.ts';
import { queryAll } from '../aws/dynamodb/query.ts';
import { getItem } from '../aws/dynamodb/send.ts';
import { keys, type Table } from '../aws/dynamodb/table.ts';
import { catalogRevisionOf, switchesOf } from '../catalog/provider-store.ts';
import type { ProviderSwitches } from '../catalog/providers.ts';
import { closedOf, type ClosedService, readService } from '../creations/service-state-store.ts';
import { noticeFromItem } from '../notices/notice-store.ts';
import type { AccountId, KeyId, NoticeId, PersonId, TokenId } from '../values/ids.ts';
import { memberFromItem } from './people-store.ts';
import type { Member } from './people.ts';
import { portalKeys } from './portal-key-items.ts';

const mostTokens = 1000;

export function createPortalReads(table: Table) {
  return {
    /** All keys of the account, also that of the playground, the oldest first. */
    keys: async (account: AccountId): Promise<readonly ApiKey[]> =>
      (await queryAll(table, keys.account(account).pk, 'KEY#'))
        .map(apiKeyFromItem)
        .sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1)),
    /** A key with the tokens of end users that it minted and that the table still has, at most `mostTokens`. */
    keyAndTokens: async (
      account: AccountId,
      id: KeyId,
    ): Promise<{
      readonly key?: ApiKey;
      readonly tokens: readonly UserToken[];
      readonly hasAll: boolean;
    }> => {
      const { pk, sk } = keys.userToken(account, id as string as TokenId);
      const [item, tokens] = await Promise.all([
        getItem(table, keys.apiKey(account, id)),
        queryAll(table, pk, sk, false, mostTokens + 1),
      ]);
      return {
        ...(item && { key: apiKeyFromItem(item) }),
        tokens: tokens.slice(0, mostTokens).map(userTokenFromItem),
        hasAll: tokens.length <= mostTokens,
      };
    },
    /** The person's memberships in these accounts, the accounts' names and the switch, by one read. */
    membersAndSwitch: async (
      person: PersonId,
      accounts: readonly AccountId[],
    ): Promise<{ readonly members: readonly NamedMember[]; readonly closed?: ClosedService }> => {
      const items = await batchGet(table, [
        keys.service(),
        ...accounts.flatMap((account) => [keys.account(account), portalKeys.member(account, person)]),
      ]);
      const members = accounts.flatMap((id) => {
        const own = items.filter(({ pk }) => pk === keys.account(id).pk);
        const account = own.find(({ sk }) => sk === keys.account(id).sk);
        const member = own.find(({ sk }) => sk !== keys.account(id).sk);
        const accountName = account === undefined ? id : String(account['name']);
        return member ? [{ ...memberFromItem(member), accountName }] : [];
      });
      return { members, ...closedOf(items.find(({ pk }) => pk === keys.service().pk)) };
    },
    service: async (): Promise<
      Pick<RequestState, 'openCreations' | 'closed' | 'catalogRevision'> & ProviderSwitches
    > => {
      const { item, openCreations } = await readService(table);
      const catalogRevision = catalogRevisionOf(item);
      return {
        ...closedOf(item),
        openCreations,
        ...switchesOf(item),
        ...(catalogRevision !== undefined && { catalogRevision }),
      };
    },
    /** Unix milliseconds of the last test delivery. */
    lastTestAt: async (account: AccountId): Promise<number | undefined> => {
      const item = await getItem(table, keys.testDelivery(account));
      return item && Number(item['lastAt']);
    },
    /** The body of a notice. Undefined: the notice is gone. */
    noticeBody: async (account: AccountId, id: NoticeId): Promise<string | undefined> => {
      const item = await getItem(table, keys.notice(id));
      const notice = item && noticeFromItem(item);
      return notice?.accountId === account ? notice.webhook.body : undefined;
    },
  };
}

export interface NamedMember extends Member {
  readonly accountName: string;
}
