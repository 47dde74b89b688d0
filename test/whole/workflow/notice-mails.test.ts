/** Notices by e-mail under faults: five attempts, each claimed, and nothing for who has not confirmed. */
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, afterEach, expect, it } from 'vitest';
import { topicArn } from '../../../local/aws/topics.ts';
import { systemClock } from '../../../service/aws/clock.ts';
import { createTopics } from '../../../service/aws/topics.ts';
import { setNotices } from '../../../service/notices/alert-settings.ts';
import { topicOf } from '../../../service/notices/mail-readers.ts';
import { createMailStore } from '../../../service/notices/mail-store.ts';
import type { PersonId } from '../../../service/values/ids.ts';
import { asMicros } from '../../../service/values/money.ts';
import { adminJson } from '../../admin/admin-run.ts';
import { confirmMails, mailsAt } from '../../fixtures/mails.ts';
import { type Client, sharedTestService } from '../../fixtures/service.ts';
import { settled, submit } from './creations.ts';

const service = await sharedTestService();
const { machine, operator } = service;
const access = { region: 'us-east-1', urlSuffix: 'amazonaws.com', endpoint: machine.awsUrl };
const keys = { accessKeyId: 'operator', secretAccessKey: machine.awsSecretKey };
const topics = createTopics({ ...access, ...keys, prefix: topicArn('Darkroom-mail-'), clock: systemClock });
const mailStore = createMailStore(operator.table);
afterEach(() => machine.faults.clear());
afterAll(async () => {
  expect(await service.audit()).toEqual([]);
  await service.end();
});

let people = 0;
/** A client whose one person gets wallet.low by e-mail. The first creation makes the balance low. */
async function read(isConfirmed = true): Promise<Client & { readonly address: string }> {
  const client = await service.client({ balance: '1' });
  const { id } = client.account;
  people += 1;
  const personId = String(people).padStart(43, 'p') as PersonId;
  const address = `reader-${people}@studio.test`;
  const item = { pk: `ACCOUNT#${id}`, sk: `MEMBER#${personId}` };
  // Other files of this service list its people by their e-mails.
  const member = { ...item, accountId: id, personId, role: 'viewer', email: address };
  await operator.table.client.send(new PutCommand({ TableName: operator.table.name, Item: member }));
  await topics.subscribe(topicOf(id, personId), address);
  if (isConfirmed) await confirmMails(machine.localUrl);
  const choice = { kinds: ['wallet.low'], address, portalUrl: machine.portalUrl } as const;
  expect(await mailStore.choose(id, personId, choice)).toBe(true);
  await setNotices(id, { noticeUrl: null, lowBalanceMicros: asMicros(1_000_000) }, operator);
  return { ...client, address };
}

async function render({ key }: Client): Promise<void> {
  await settled(service, await submit(service, key, { prompt: 'a lake' }));
}

const toldTo = async (address: string): Promise<number> =>
  (await mailsAt(machine.localUrl)).filter(({ to, token }) => to === address && token === undefined).length;

const attempts = async ({ account }: Client): Promise<readonly Record<string, unknown>[]> =>
  (await adminJson(service.folder, 'webhooks', 'log', account.id))['data'] as Record<string, unknown>[];

it('A publication that SNS throttles is tried again after a minute, and its row has a masked address', async () => {
  const reader = await read();
  machine.clock.freeze();
  machine.faults.set({ call: 'sns:Publish', error: 'Throttling', every: 1 });
  await render(reader);
  await expect.poll(async () => (await attempts(reader))[0]?.['outcome']).toBe('failed');
  machine.faults.clear();
  expect(await toldTo(reader.address)).toBe(0);
  await machine.advance(1_000);
  expect(await toldTo(reader.address)).toBe(1);
  expect(await attempts(reader)).toMatchObject([
    { attempt: 2, event: 'wallet.low', outcome: 'delivered' },
    { attempt: 1, event: 'wallet.low', outcome: 'failed', status: 429 },
  ]);
  expect(JSON.stringify(await attempts(reader))).not.toContain(reader.address);
});

it('A topic that SNS refuses gets five attempts and no more', async () => {
  const reader = await read();
  machine.faults.set({ call: 'sns:Publish', error: 'AccessDenied', every: 1 });
  await render(reader);
  await expect.poll(async () => (await attempts(reader)).length).toBe(1);
  await machine.advance(2_000);
  expect((await attempts(reader)).map(({ attempt, outcome }) => [attempt, outcome])).toEqual(
    [5, 4, 3, 2, 1].map((attempt) => [attempt, 'failed']),
  );
  expect(await toldTo(reader.address)).toBe(0);
});

it('Who has not confirmed gets nothing, and is no failed attempt', async () => {
  const reader = await read(false);
  await render(reader);
  await machine.advance(2_000);
  expect((await service.account(reader.account.id)).toldLow).toBeDefined();
  expect(await attempts(reader)).toEqual([]);
  expect(await toldTo(reader.address)).toBe(0);
});
