/** DeliverWebhook for accounts that get notices: the check after the end, and the count of failed attempts. */
import { describe, expect, it } from 'vitest';
import type { NoticeStore } from '../../service/notices/notice-store.ts';
import type { NoticeRecord } from '../../service/notices/notice.ts';
import type { NoticeId } from '../../service/values/ids.ts';
import { deliverOrAlarm, deliverWebhook } from '../../service/webhooks/deliver-webhook.ts';
import { stub, failureOf } from '../api/fakes.ts';
import { accountId, keyId, now } from '../fixtures/records.ts';
import { ok, payload, type Setting, stage, type Stage } from './deliver-webhook-fixture.ts';

const check = `check ${accountId} ${keyId}`;
const failed = { ...ok, status: 500 } as const;
const noticeId = 'ntc_019aa5a0-1000-7000-8000-00000000000a' as NoticeId;

describe('the check of thresholds after the end of a creation', () => {
  it('The creation of an account with an address is checked before its webhook is sent', async () => {
    const { services, steps } = stage({ creation: { isWatched: true } });
    await deliverWebhook(payload, services);
    expect(steps).toEqual([check, 'claim', 'post', 'settle']);
  });

  it('A creation without a webhook is checked, too', async () => {
    const { services, steps } = stage({ creation: { isWatched: true }, lacks: 'webhook' });
    await deliverWebhook(payload, services);
    expect(steps).toEqual([check]);
  });

  it('A check that breaks off keeps no webhook from being sent, and the state machine retries', async () => {
    const { services, steps, log } = stage({ creation: { isWatched: true }, isCheckBusy: true });
    expect(await failureOf(deliverWebhook(payload, services))).toBe('WebhookNotDelivered');
    expect(steps).toEqual([check, 'claim', 'post', 'settle']);
    expect(log.lines).toEqual(['info notices_not_looked_for', 'info webhook_attempted']);
  });
});

describe('the count of failed attempts in a row', () => {
  const counted = async (setting: Setting): Promise<string[]> => {
    const { services, steps } = stage(setting);
    await deliverWebhook(payload, services).catch(() => undefined);
    return steps.slice(steps.indexOf('settle') + 1);
  };

  it.each<[string, Setting, string[]]>([
    ['nothing without an address for notices', { answer: failed }, []],
    ['a failed attempt', { answer: failed, failures: { inARow: 3, isTold: false }, countsTo: 4 }, ['count']],
    [
      'the tenth, and checks thresholds',
      { answer: failed, failures: { inARow: 9, isTold: false }, countsTo: 10 },
      ['count', `check ${accountId}`],
    ],
    ['the eleventh', { answer: failed, failures: { inARow: 10, isTold: true }, countsTo: 11 }, ['count']],
    ['no success after a success', { failures: { inARow: 0, isTold: false } }, []],
    ['a success after failures by beginning anew', { failures: { inARow: 2, isTold: false } }, ['reset']],
  ])('DeliverWebhook counts %s', async (_what, setting, expected) => {
    expect(await counted(setting)).toEqual(expected);
  });
});

describe('the delivery of a notice', () => {
  const notice: NoticeRecord = {
    id: noticeId,
    accountId,
    type: 'wallet.low',
    createdAt: new Date(now).toISOString(),
    webhook: { url: 'https://hooks.test/n', status: 'pending', attempts: 0, nextAt: now, body: '{"a":1}' },
    executions: 1,
    recoveries: 0,
  };
  const noticeStage = (stored: NoticeRecord | undefined, setting: Setting = {}): Stage => {
    const made = stage(setting);
    const notices = stub<NoticeStore>({ read: async () => Promise.resolve(stored) });
    return { ...made, services: { ...made.services, notices } };
  };
  const asked = { notice_id: noticeId };

  it('A notice is sent with its stored bytes, under its own header, and never counts as a webhook', async () => {
    const { services, sent, settled, steps } = noticeStage(notice, {
      failures: { inARow: 2, isTold: false },
    });
    expect(await deliverWebhook(asked, services)).toEqual(asked);
    expect(sent).toMatchObject([
      { url: 'https://hooks.test/n', body: '{"a":1}', headers: { 'x-darkroom-notice': 'wallet.low' } },
    ]);
    expect(sent[0]?.headers).toMatchObject({ 'webhook-id': noticeId });
    expect(sent[0]?.headers).not.toHaveProperty('x-webhook-event');
    expect(settled[0]?.delivery).toMatchObject({ noticeId, event: 'wallet.low', attempt: 1 });
    expect(settled[0]?.delivery).not.toHaveProperty('creationId');
    expect(steps).toEqual(['claim', 'post', 'settle']);
  });

  it.each<[string, NoticeRecord | undefined]>([
    ['is settled', { ...notice, webhook: { ...notice.webhook, status: 'delivered' } }],
    ['is gone', undefined],
  ])('Nothing is sent when the notice %s', async (_state, stored) => {
    const { services, steps } = noticeStage(stored);
    expect(await deliverWebhook(asked, services)).toEqual(asked);
    expect(steps).toEqual([]);
  });

  it('A payload that names neither a creation nor a notice is an alarm', async () => {
    const { services, log } = noticeStage(notice);
    expect(await failureOf(deliverOrAlarm({ notice_id: 'ntc_none' }, services))).toBe('Error');
    expect(log.lines).toEqual(['alarm webhook_delivery_broke']);
  });
});
