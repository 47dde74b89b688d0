/**
 * Every page of the portal on one machine, for an account with a year of 100,000 rows of the ledger, in a real
 * browser. Prints for each page how long it took and how often it read the table, at the first visit and at the
 * second. Two seconds are the promise for a day that is summed; a test holds only the reads. Only CI runs it.
 */
import { marshall } from '@aws-sdk/util-dynamodb';
import type { Browser, Page, Request } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keys } from '../../service/aws/dynamodb/table.ts';
import { portalRoot } from '../../service/contract/operations.ts';
import { creationToItem } from '../../service/creations/creation-items.ts';
import { type CreationId, uuidV7 } from '../../service/values/ids.ts';
import { asMicros } from '../../service/values/money.ts';
import { demoEmail } from '../../start/demo-account.ts';
import { startBrowser } from '../fixtures/browser.ts';
import { invite } from '../fixtures/portal.ts';
import { accountId, aCompletedCreation, seededBytes } from '../fixtures/records.ts';
import { startTestService, type TestService } from '../fixtures/service.ts';
import { type Expected, type Made, writeYear } from './generated-year.ts';

/** With who is signed in: of a page that is loaded anew. The first visit to usage sums the year. */
const mostFirstReads = 60;
const mostReads = 10;
/** Of the parts of payments, which only the wallet has: two requests with the session, a page and the top-up. */
const mostReadsOfPayments = 5;
/** The figures of the operator need what vendors billed, so they are read from the ledgers of 31 days at most. */
const readsOfMargin = 100;
/** Rows of deliveries are kept for so many days. */
const deliveryMillis = 30 * 86_400_000;

let service: TestService;
let browser: Browser;
let page: Page;
let expected: Expected;
/** The last creation of the year, and its delivery. */
let newest = { creation: '', delivery: '' };
let reads = 0;
let readsOfPayments = 0;

beforeAll(async () => {
  [service, browser] = await Promise.all([startTestService(), startBrowser()]);
  const { machine, operator } = service;
  expected = await fillTable();
  await invite(operator.people, accountId, demoEmail, 'owner');
  // One call that reads is one read, whatever it reads. The schedule of the service reads, too, and does not count.
  machine.interceptAws(async (call, serve) => {
    const isRead = /^(BatchGetItem|GetItem|Query|Scan|TransactGetItems)$/.test(call.operation);
    if (isRead && call.caller.startsWith('PortalPay')) readsOfPayments += 1;
    else if (isRead && call.caller.startsWith('Portal')) reads += 1;
    return serve();
  });
  page = await browser.newPage({ viewport: { width: 1280, height: 860 } });
  await page.goto(machine.portalUrl);
  await page.getByRole('link', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: demoEmail }).click();
  await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
  const account = page.getByRole('combobox', { name: 'Account' });
  if ((await account.inputValue()) !== accountId) await account.selectOption(accountId);
  await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
  await page.waitForLoadState('networkidle');
}, 600_000);
afterAll(async () => {
  await browser.close();
  await service.end();
});

/** Writes the year into the running service, 25 items a call. */
async function fillTable(): Promise<Expected> {
  const { machine, operator } = service;
  const nowMillis = machine.clock.now();
  const waiting: object[] = [];
  const put = (item: object): void => void waiting.push(item);
  const sums = writeYear(put, {
    rows: 100_000,
    nowMillis,
    recordOf: (one, number) => {
      const record = recordOf(one);
      if (Date.parse(one.at) > nowMillis - deliveryMillis) {
        const delivery = deliveryOf(one, number);
        newest = { creation: one.id, delivery: delivery.id };
        put(delivery);
      }
      return record;
    },
  });
  for (let from = 0; from < waiting.length; from += 25) {
    const requests = waiting
      .slice(from, from + 25)
      .map((item) => ({ PutRequest: { Item: marshall(item, { removeUndefinedValues: true }) } }));
    await machine.aws({
      service: 'dynamodb',
      operation: 'BatchWriteItem',
      caller: 'operator',
      input: { RequestItems: { [operator.table.name]: requests } },
    });
  }
  return sums;
}

function recordOf({ id, at, cost, keyId, model, user, refundedAt }: Made): object {
  const completedAt = refundedAt ?? new Date(Date.parse(at) + 4_000).toISOString();
  const record = aCompletedCreation({
    ...{ id: id as CreationId, keyId, model, createdAt: at, startedAt: at, completedAt },
    ...(user !== undefined && { user }),
    ...{ costMicros: asMicros(cost), resultsExpireAt: Date.parse(at) + deliveryMillis },
    ...(refundedAt !== undefined && {
      ...{ status: 'failed', results: [], refundedMicros: asMicros(cost) },
    }),
    attempts: [
      {
        ...{ provider: 'sandbox', providerModel: 'standard', startedAt: at, endedAt: completedAt },
        outcome: refundedAt === undefined ? 'rendered' : 'GenerationTimedOut',
        resultKey: 'results/one.png',
      },
    ],
    webhook: { url: 'https://studio.test/hook', status: 'delivered', attempts: 1, nextAt: Date.parse(at) },
  });
  return { ...creationToItem(record), openShard: undefined, dueAt: undefined };
}

function deliveryOf({ id, at }: Made, number: number): { readonly id: string } {
  const isFailed = number % 9 === 0;
  const delivery = uuidV7(
    Date.parse(at),
    seededBytes(16).map((byte) => (byte * number) % 256),
  );
  return {
    ...keys.delivery(accountId, at, delivery),
    ...{ id: delivery, accountId, creationId: id, event: 'creation.completed', attempt: 1, startedAt: at },
    ...{ url: 'https://studio.test/hook', outcome: isFailed ? 'failed' : 'delivered', millis: 40 },
    ...(isFailed ? { failure: 'refused' } : { status: 204 }),
  };
}

interface Measured {
  readonly page: string;
  readonly millis: number;
  readonly reads: number;
}

/** Loads the page anew, as a link from elsewhere does, and waits until all of it is shown. */
async function visit(name: string, path: string): Promise<Measured> {
  const open = new Set<Request>();
  let last = 0;
  const begins = (request: Request): void => {
    if (new URL(request.url()).pathname.startsWith(portalRoot)) open.add(request);
  };
  const ends = (request: Request): void => {
    if (open.delete(request)) last = performance.now();
  };
  page.on('request', begins).on('requestfinished', ends).on('requestfailed', ends);
  [reads, readsOfPayments] = [0, 0];
  const begun = performance.now();
  await page.goto(new URL(path, service.machine.portalUrl).href, { waitUntil: 'commit' });
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.locator('.loading').first().waitFor({ state: 'detached' });
  last = Math.max(last, performance.now());
  await page.waitForLoadState('networkidle');
  expect(await page.locator('.failed').allTextContents(), name).toEqual([]);
  page.off('request', begins).off('requestfinished', ends).off('requestfailed', ends);
  return { page: name, millis: Math.round(last - begun), reads };
}

const pages: readonly (readonly [name: string, path: () => string])[] = [
  ['usage of thirty days', () => 'usage'],
  ['usage of a year by user', () => 'usage?range=365&by=user'],
  ['usage of a year by day', () => 'usage?range=365&by=day'],
  ['wallet', () => 'wallet'],
  ['home', () => ''],
  ['playground', () => 'playground'],
  ['creations', () => 'creations'],
  ['creation', () => `creations/${newest.creation}`],
  ['keys', () => 'keys'],
  ['webhooks', () => 'webhooks'],
  ['deliveries', () => 'deliveries'],
  ['failed deliveries', () => 'deliveries?outcome=failed'],
  ['delivery', () => `deliveries/${newest.delivery}`],
  ['people', () => 'people'],
  ['audit', () => 'audit'],
  ['account', () => 'account'],
  ['accounts', () => 'operator/accounts'],
  ['one account', () => `operator/accounts/${accountId}`],
  ['failing webhooks', () => 'operator/webhooks'],
  ['providers', () => 'operator/providers'],
  ['margin', () => 'operator/margin'],
];

describe('On one machine, with a year of 100,000 rows', () => {
  it.each(pages)('%s is there within its reads', async (name, path) => {
    expect(expected.rows).toBeGreaterThan(99_900);
    const first = await visit(name, path());
    const second = await visit(name, path());
    process.stdout.write(
      `${name.padEnd(24)} ${first.millis} ms, ${first.reads} reads; then ${second.millis} ms, ${second.reads} reads\n`,
    );
    expect(first.reads).toBeLessThanOrEqual(name === 'margin' ? readsOfMargin : mostFirstReads);
    expect(second.reads).toBeLessThanOrEqual(name === 'margin' ? readsOfMargin : mostReads);
    expect(readsOfPayments).toBeLessThanOrEqual(name === 'wallet' ? mostReadsOfPayments : 0);
  });
});
