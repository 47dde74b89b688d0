/** The stand-in of SNS, over a real socket and the signed query protocol, as the service calls it. */
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { openTopics, topicArn } from '../../../local/aws/topics.ts';
import { systemClock } from '../../../service/aws/clock.ts';
import { createSignedFetch } from '../../../service/aws/signed-fetch.ts';
import { TopicRefused } from '../../../service/aws/topic-calls.ts';
import { createTopics, type Topics } from '../../../service/aws/topics.ts';
import { newFolder } from '../machine-fixture.ts';
import { mailsAt } from '../../fixtures/mails.ts';
import { sharedTestService } from '../../fixtures/service.ts';

const service = await sharedTestService();
const { machine } = service;
const access = {
  region: 'us-east-1',
  urlSuffix: 'amazonaws.com',
  endpoint: machine.awsUrl,
  accessKeyId: 'operator',
  secretAccessKey: machine.awsSecretKey,
  clock: systemClock,
};
const topicsOf = (accessKeyId: string): Topics =>
  createTopics({ ...access, accessKeyId, prefix: topicArn('Darkroom-mail-') });
const topics = topicsOf('operator');
const address = 'o"w<n&er@studio.test';
const mail = { subject: 'Darkroom: das Guthaben für ACME', text: 'It is low.' };
// Other files share the service, and its mails.
const mails = async () => (await mailsAt(machine.localUrl)).filter(({ to }) => to === address);
const linkOf = async (): Promise<string> => (await mails())[0]?.token ?? '';
afterAll(() => service.end());

it('A topic asks the address to confirm, then sends to it alone, and is gone with its subscriptions', async () => {
  await topics.subscribe('one', address);
  expect(await topics.state('one', address)).toBe('waiting');
  expect(await topics.state('one', 'other@studio.test')).toBe('gone');
  expect(await topics.publish('one', mail)).toMatchObject({ kind: 'answered', status: 200 });
  expect(await mails(), 'only the question').toHaveLength(1);
  await topics.subscribe('one', address);
  expect((await fetch(`${machine.localUrl}/mails/confirm?token=${await linkOf()}`)).status).toBe(200);
  expect(await topics.state('one', address)).toBe('on');
  await topics.publish('one', mail);
  expect((await mails())[0]).toMatchObject({
    to: address,
    from: 'Darkroom',
    subject: 'Darkroom: das Guthaben f?r ACME',
  });
  await topics.remove('one');
  await topics.remove('one');
  expect(await topics.state('one', address)).toBe('gone');
  expect(await topics.publish('one', mail)).toEqual({ kind: 'answered', status: 404, excerpt: 'NotFound' });
});

it('The errors have the names and the status of SNS', async () => {
  const send = createSignedFetch({ ...access, service: 'sns', retries: 0 });
  const ask = async (members: Record<string, string>): Promise<string> => {
    const response = await send(`${machine.awsUrl}/`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' },
      body: new URLSearchParams({ Version: '2010-03-31', ...members }).toString(),
    });
    return `${response.status} ${/<Code>(\w+)/.exec(await response.text())?.[1] ?? ''}`;
  };
  const named = { Action: 'CreateTopic', Name: 'Darkroom-mail-two' };
  const attribute = (value: string) => ({
    'Attributes.entry.1.key': 'DisplayName',
    'Attributes.entry.1.value': value,
  });
  const TopicArn = topicArn('Darkroom-mail-two');
  expect(await ask({ ...named, ...attribute('Darkroom') })).toBe('200 ');
  expect(await ask({ ...named, ...attribute('Darkroom') })).toBe('200 ');
  expect(await ask({ ...named, ...attribute('Other') })).toBe('400 InvalidParameter');
  expect(await ask({ Action: 'CreateTopic', Name: 'no spaces' })).toBe('400 InvalidParameter');
  expect(await ask({ Action: 'Subscribe', TopicArn, Protocol: 'email', Endpoint: 'nobody' })).toBe(
    '400 InvalidParameter',
  );
  expect(await ask({ Action: 'Publish', TopicArn, Subject: 'x'.repeat(101), Message: 'y' })).toBe(
    '400 InvalidParameter',
  );
  expect(await ask({ Action: 'Publish', TopicArn, Subject: 'x', Message: '' })).toBe('400 InvalidParameter');
  expect(await ask({ Action: 'Publish', TopicArn: topicArn('none'), Subject: 'x', Message: 'y' })).toBe(
    '404 NotFound',
  );
});

it('A throttle and a missing right are errors of SNS, and a lost answer is no answer', async () => {
  await topics.subscribe('three', address);
  machine.faults.set({ call: 'sns:Publish', error: 'Throttling', every: 1 });
  expect(await topics.publish('three', mail)).toEqual({
    kind: 'answered',
    status: 429,
    excerpt: 'Throttled',
  });
  machine.faults.clear();
  machine.faults.set({ call: 'sns:Publish', error: 'Timeout', every: 1 });
  expect(await topics.publish('three', mail)).toMatchObject({ kind: 'unanswered' });
  machine.faults.clear();
  const stranger = topicsOf('GenerateImage');
  expect(await stranger.publish('three', mail)).toEqual({
    kind: 'answered',
    status: 403,
    excerpt: 'AuthorizationError',
  });
  await expect(stranger.subscribe('three', address)).rejects.toThrow(TopicRefused);
});

it('Topics, subscriptions and e-mails survive a restart', async () => {
  const folder = newFolder(afterAll);
  const file = path.join(folder, 'mails.jsonl');
  const call = (open: ReturnType<typeof openTopics>, operation: string, input: Record<string, unknown>) =>
    open.service({ service: 'sns', operation, caller: 'operator', input });
  const before = openTopics({ file, now: () => 0 });
  await call(before, 'CreateTopic', { Name: 'a' });
  await call(before, 'Subscribe', { TopicArn: topicArn('a'), Protocol: 'email', Endpoint: address });
  expect(before.confirm(before.mails()[0]?.token ?? '')).toBe(true);
  before.close();
  const after = openTopics({ file, now: () => 0 });
  await call(after, 'Publish', { TopicArn: topicArn('a'), Subject: 'x', Message: 'y' });
  expect(after.mails().map(({ subject }) => subject)).toEqual([before.mails()[0]?.subject, 'x']);
  expect(after.unsubscribe(after.mails()[1]?.subscription ?? '')).toBe(true);
  expect(after.unsubscribe('unknown')).toBe(false);
  after.close();
});
