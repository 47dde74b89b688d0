import type { PortalReads } from '../../../core/ports/portal-reads.ts';
import { batchGet } from '../batch-get.ts';
import { readService } from '../open-count-store.ts';
import { apiKeyFromItem, noticeFromItem } from '../mapping.ts';
import { memberFromItem } from './people-mapping.ts';
import { portalKeys } from './portal-keys.ts';
import { catalogRevisionOf, switchesOf } from '../provider-store.ts';
import { queryAll } from '../query.ts';
import { getItem } from '../send.ts';
import { closedOf } from '../service-switch.ts';
import { keys, type Table } from '../table.ts';

export function createPortalReads(table: Table): PortalReads {
  return {
    keys: async (account) =>
      (await queryAll(table, keys.account(account).pk, 'KEY#'))
        .map(apiKeyFromItem)
        .sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1)),
    placesAndSwitch: async (person, accounts) => {
      const items = await batchGet(table, [
        keys.service(),
        ...accounts.flatMap((account) => [keys.account(account), portalKeys.member(account, person)]),
      ]);
      const places = accounts.flatMap((id) => {
        const own = items.filter(({ pk }) => pk === keys.account(id).pk);
        const account = own.find(({ sk }) => sk === keys.account(id).sk);
        const member = own.find(({ sk }) => sk !== keys.account(id).sk);
        const accountName = account === undefined ? id : String(account['name']);
        return member ? [{ ...memberFromItem(member), accountName }] : [];
      });
      return { places, ...closedOf(items.find(({ pk }) => pk === keys.service().pk)) };
    },
    service: async () => {
      const { item, openCreations } = await readService(table);
      const catalogRevision = catalogRevisionOf(item);
      return {
        ...closedOf(item),
        openCreations,
        ...switchesOf(item),
        ...(catalogRevision !== undefined && { catalogRevision }),
      };
    },
    lastTestAt: async (account) => {
      const item = await getItem(table, keys.testDelivery(account));
      return item && Number(item['lastAt']);
    },
    noticeBody: async (account, id) => {
      const item = await getItem(table, keys.notice(id));
      const notice = item && noticeFromItem(item);
      return notice?.accountId === account ? notice.webhook.body : undefined;
    },
  };
}
