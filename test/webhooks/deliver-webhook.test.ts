import { describe, expect, it } from 'vitest';
import { deliverOrAlarm, deliverWebhook } from '../../service/webhooks/deliver-webhook.ts';
import type { DeliveryStore } from '../../service/webhooks/delivery-store.ts';
import { stub, failureOf } from '../api/fakes.ts';
import { accountId, creationId, now } from '../fixtures/records.ts';
import {
  ok,
  payload,
  type Setting,
  stage,
  type Stage,
  current,
  previous,
} from './deliver-webhook-fixture.ts';

describe('a delivery attempt that comes too early', () => {
  it('An attempt that is more than 3 s early is not claimed and comes again', async () => {
    const { services, steps } = stage({ webhook: { nextAt: now + 8_001 } });
    expect(await failureOf(deliverWebhook(payload, services))).toBe('WebhookNotDelivered');
    expect(steps).toEqual([]);
  });

  it('An attempt that is up to 3 s early waits until it is due', async () => {
    const { services, clock, claims } = stage({ webhook: { nextAt: now + 8_000 } });
    await deliverWebhook(payload, services);
    expect(clock.sleeps).toEqual([3_000]);
    expect(claims[0]?.nowMillis).toBe(now + 8_000);
  });
});

describe('the outcome of a delivery attempt', () => {
  it("The delivery log keeps 1 KiB of the answer's body and its headers, and the function's log keeps none", async () => {
    const { services, settled, log } = stage({
      answer: { ...ok, excerpt: 'x'.repeat(16_384), headers: { server: 'x-receiver' } },
    });
    await deliverWebhook(payload, services);
    expect(settled[0]?.delivery.responseExcerpt).toBe('x'.repeat(1_024));
    expect(settled[0]?.delivery.responseHeaders).toEqual({ server: 'x-receiver' });
    expect(log.text()).not.toMatch(/xxx|x-receiver/);
    expect(log.text()).not.toContain('hooks.test');
  });

  it('The delivery log keeps the beginnings of the signatures and their time, and never a signature or a secret', async () => {
    const secrets = [
      { sealed: current, issuedAt: now },
      { sealed: previous, issuedAt: 0, replacedAt: now },
    ];
    const { services, settled, sent } = stage({ secrets });
    await deliverWebhook(payload, services);
    const { delivery } = settled[0] ?? {};
    const headers = sent[0]?.headers ?? {};
    const hex = headers['x-webhook-signature-256'] ?? '';
    const standard = (headers['webhook-signature'] ?? '').split(' ');
    expect(delivery?.signedAt).toBe(Number(headers['x-timestamp']));
    expect(delivery?.cuts).toEqual({
      current: hex.slice(7, 11),
      previous: headers['x-webhook-signature-256-previous']?.slice(7, 11),
      standard: standard.map((one) => one.slice(3, 7)),
    });
    expect(standard).toHaveLength(2);
    const stored = JSON.stringify(settled);
    for (const text of [current, previous, hex.slice(7), ...standard]) expect(stored).not.toContain(text);
  });
});

describe('a webhook that is not sent', () => {
  it.each<[string, Setting]>([
    ['when the creation is not there, as after a restore of the table', { creation: null }],
    ['when no webhook was wanted', { lacks: 'webhook' }],
    ['when it was delivered', { webhook: { status: 'delivered' } }],
    ['when it failed', { webhook: { status: 'failed' } }],
    ['when it was skipped', { webhook: { status: 'skipped' } }],
    ['while the fifth attempt may still be under way', { webhook: { attempts: 5, nextAt: now + 5_001 } }],
    ['before the creation is terminal', { lacks: 'completedAt' }],
  ])('Nothing is sent %s', async (_when, setting) => {
    const { services, steps } = stage(setting);
    expect(await deliverWebhook(payload, services)).toEqual(payload);
    expect(steps).toEqual([]);
  });
});

describe('a fifth attempt that was claimed and never settled', () => {
  it('The delivery is given up once the time of the fifth attempt is over', async () => {
    const { services, steps } = stage({ webhook: { attempts: 5, nextAt: now + 5_000 } });
    expect(await deliverWebhook(payload, services)).toEqual(payload);
    expect(steps).toEqual(['give up']);
  });
});

describe('a delivery that breaks', () => {
  const broken = (): Stage => {
    const made = stage();
    return {
      ...made,
      services: {
        ...made.services,
        deliveries: stub<DeliveryStore>({
          deliveringAccount: async () => Promise.reject(new TypeError('secret of the table')),
        }),
      },
    };
  };

  it('A delivery that breaks is an alarm that names the error without its text, and is tried again', async () => {
    const { services, log } = broken();
    expect(await failureOf(deliverOrAlarm(payload, services))).toBe('TypeError');
    expect(log.lines).toEqual(['alarm webhook_delivery_broke']);
    expect(log.text()).toBe(JSON.stringify([{ creationId, error: 'TypeError' }]));
  });

  it('A receiver that fails is no alarm', async () => {
    const { services, log } = stage({ answer: { ...ok, status: 500 } });
    expect(await failureOf(deliverOrAlarm(payload, services))).toBe('WebhookNotDelivered');
    expect(log.lines).toEqual(['info webhook_attempted']);
  });

  it('Every log line of a delivery names its creation, account and execution', async () => {
    const { services, log } = stage();
    await deliverWebhook(payload, services);
    expect(log.text()).toContain(
      `"creationId":"${creationId}","accountId":"${accountId}","executionId":"${creationId}"`,
    );
  });
});
