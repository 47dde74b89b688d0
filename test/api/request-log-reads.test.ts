/** How the two lists of the log are joined, where one of them is longer than one call may read. */
import { expect, it } from 'vitest';
import {
  createRequestLogReads,
  type Places,
  type RequestQuery,
} from '../../service/api/request-log-reads.ts';
import { putItem } from '../../service/aws/dynamodb/send.ts';
import { refusalPartition } from '../../service/aws/dynamodb/table.ts';
import { creationToItem } from '../../service/creations/creation-items.ts';
import { type CreationId, type KeyId, uuidV7 } from '../../service/values/ids.ts';
import { accountId, aCreation, keyId, now, seededBytes } from '../fixtures/records.ts';
import { createMeteredTable } from './metered-table.ts';

const other = 'Key002' as KeyId;

function aTable() {
  const { client, clock } = createMeteredTable(undefined, true);
  const table = { client, clock, name: 'table', randomBytes: seededBytes };
  const reads = createRequestLogReads(table);
  return {
    refuse: async (secondsAgo: number, by = keyId, keptSeconds = 9_999): Promise<void> => {
      const at = new Date(now - secondsAgo * 1000).toISOString();
      const sk = `REFUSED#${at}#${secondsAgo}`;
      const expiresAtSeconds = now / 1000 - secondsAgo + keptSeconds;
      const row = { at, keyId: by, status: 429, message: `refused ${secondsAgo}`, expiresAtSeconds };
      await putItem(table, { pk: refusalPartition(accountId), sk, ...row });
    },
    accept: async (secondsAgo: number): Promise<void> => {
      const id = uuidV7(now - secondsAgo * 1000, seededBytes(16)) as CreationId;
      await putItem(table, creationToItem(aCreation({ id, prompt: `accepted ${secondsAgo}` })));
    },
    /** The texts of all pages. */
    all: async (query: Partial<RequestQuery>, begin?: Places): Promise<string[]> => {
      const found: string[] = [];
      let after = begin;
      for (let pages = 0; pages < 50; pages += 1) {
        const page = await reads.page(accountId, { limit: 20, ...query, ...(after && { after }) });
        found.push(
          ...page.requests.map(({ message, body = '' }) => message ?? /accepted \d+/.exec(body)?.[0] ?? ''),
        );
        after = page.next;
        if (!after) return found;
      }
      throw new Error('the list does not end');
    },
  };
}

it('A request is never shown before a newer one that a later call finds', async () => {
  const { refuse, accept, all } = aTable();
  for (let secondsAgo = 1; secondsAgo <= 1_050; secondsAgo += 1) await refuse(secondsAgo, other);
  await accept(3);
  await refuse(1_051);
  await accept(1_052);
  await refuse(1_053);
  const found = await all({ keyId });
  expect(found).toEqual(['accepted 3', 'refused 1051', 'accepted 1052', 'refused 1053']);
});

it('A row that has expired is not shown, although the table still has it', async () => {
  const { refuse, all } = aTable();
  await refuse(100, keyId, 101);
  await refuse(200, keyId, 200);
  expect(await all({})).toEqual(['refused 100']);
});

it('A position that was made up, or is older than the log, leads to no error', async () => {
  const { refuse, all } = aTable();
  await refuse(5);
  const place = (at: string): Places => ({ refused: `REFUSED#${at}#x`, accepted: '' });
  expect(await all({}, place('2020-01-01T00:00:00.000Z'))).toEqual([]);
  expect(await all({}, place('2099-01-01T00:00:00.000Z'))).toEqual(['refused 5']);
  expect(await all({ from: now + 1, to: now - 1 })).toEqual([]);
});
