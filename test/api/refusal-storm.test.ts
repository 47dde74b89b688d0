/** A storm of 100,000 refused requests: what the log writes, and what it shows of the storm. */
import { expect, it } from 'vitest';
import { createRequestLogReads, type RequestPage } from '../../service/api/request-log-reads.ts';
import { aRequest, refusalsOf } from './refusal-fixture.ts';
import { overBalance, rateExceeded } from '../../service/api/problems.ts';
import { asMicros } from '../../service/values/money.ts';
import { accountId, apiKeyText, keyId, now, seededBytes } from '../fixtures/records.ts';
import { fakeLog } from './fakes.ts';
import { createMeteredTable } from './metered-table.ts';

const requests = 100_000;
const environments = 40;
const minutes = 5;
/** One row in a hundred is refused by the table. */
const everyRefused = 100;

it('A storm of 100,000 refusals costs a write unit each at most, and its few rows count all that were written', async () => {
  const table = createMeteredTable(undefined, true);
  const { clock } = table;
  const log = fakeLog();
  let sent = 0;
  const client = new Proxy(table.client, {
    get: (target, name) => {
      if (name === 'send') sent += 1;
      if (name === 'send' && sent % everyRefused === 0) return () => Promise.reject(new Error('refused'));
      return Reflect.get(target, name) as unknown;
    },
  });
  // No write takes long, and the fake clock would check each of their limits for ever.
  const patient = {
    ...clock,
    timeout: () => ({ signal: new AbortController().signal, release: () => undefined }),
  };
  const lossy = { client, name: 'table', clock: patient, randomBytes: seededBytes };
  const opened = Array.from({ length: environments }, () => refusalsOf(lossy, log));
  const problems = [
    rateExceeded('post', 60, 30),
    overBalance(asMicros(40_000), asMicros(0), 'https://portal.test/wallet'),
  ] as const;
  const start = Math.floor(now / 60_000) * 60_000;
  for (let number = 0; number < requests; number += 1) {
    clock.set(start + Math.floor((number * minutes * 60_000) / requests));
    const body = Buffer.from(
      JSON.stringify({ prompt: `number ${number} ${apiKeyText} ${'x '.repeat(500)}` }),
    );
    const request = aRequest({ sourceIp: '203.0.113.7', body, requestId: `request-${number}` });
    const problem = number % 7 === 0 ? problems[1] : problems[0];
    await opened[number % environments]?.().note(request, { accountId, keyId }, problem);
  }
  const unwritten = log.lines.filter((line) => line === 'info refusal_not_noted').length;
  expect(unwritten).toBe(requests / everyRefused);
  // A write of each request, and the items that are left: ten rows of each environment, kind and minute.
  expect(table.units()).toBe(requests - unwritten);
  expect(table.largest()).toBeLessThanOrEqual(1_024);
  const rows = table.rows();
  expect(rows.length).toBeLessThanOrEqual(minutes * 2 * (10 * environments + 1));
  expect(table.text()).not.toContain(apiKeyText.slice(0, 12));
  const counted = rows.reduce((sum, { count = 1 }) => sum + Number(count), 0);
  expect(counted).toBe(requests - unwritten);

  const reads = createRequestLogReads({
    client: table.client,
    name: 'table',
    clock,
    randomBytes: seededBytes,
  });
  let shown = 0;
  for (let after: RequestPage['next'] | undefined = { accepted: '' }; after;) {
    const page: RequestPage = await reads.page(accountId, { limit: 100, after });
    shown += page.requests.reduce((sum, { count = 1 }) => sum + count, 0);
    after = page.next;
  }
  expect(shown).toBe(counted);
}, 120_000);
