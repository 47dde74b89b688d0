import { describe, expect, it } from 'vitest';
import type { CreationRecord } from '../../core/creation.ts';
import type { DeliveryStore } from '../../core/ports/deliveries.ts';
import type { PostResult } from '../../core/ports/outbound.ts';
import { deliverOrAlarm, deliverWebhook } from '../../functions/workflow/deliver-webhook.ts';
import { accountId, creationId, now } from '../fixtures/records.ts';
import { ok, payload, stage, type Setting, type Stage } from './deliver-webhook-fixture.ts';
import { rejection, stub } from './fakes.ts';

describe('an attempt that comes too early', () => {
  it('by more than 3 s is put off without a claim', async () => {
    const { services, steps } = stage({ webhook: { nextAt: now + 8_001 } });
    expect(await rejection(deliverWebhook(payload, services))).toMatchObject({ name: 'WebhookNotDelivered' });
    expect(steps).toEqual([]);
  });

  it('by a little is waited for', async () => {
    const { services, clock, claims } = stage({ webhook: { nextAt: now + 8_000 } });
    await deliverWebhook(payload, services);
    expect(clock.sleeps).toEqual([3_000]);
    expect(claims[0]?.nowMillis).toBe(now + 8_000);
  });
});

describe('the outcome of an attempt', () => {
  it.each([200, 201, 204, 299])('is delivered with %d', async (status) => {
    const { services, settled } = stage({ answer: { ...ok, status } });
    await deliverWebhook(payload, services);
    expect(settled).toMatchObject([
      { delivery: { outcome: 'delivered', status, millis: 250 }, next: { status: 'delivered' } },
    ]);
  });

  it.each<[string, PostResult]>([
    ['a redirect', { kind: 'answered', status: 302, excerpt: '' }],
    ['404', { kind: 'answered', status: 404, excerpt: 'no' }],
    ['500', { kind: 'answered', status: 500, excerpt: '' }],
    ['no answer', { kind: 'unanswered', reason: 'timeout' }],
  ])('is failed with %s, and the next attempt comes 60 s after its end', async (_what, answer) => {
    const { services, settled } = stage({ answer, takes: 10_000 });
    expect(await rejection(deliverWebhook(payload, services))).toMatchObject({ name: 'WebhookNotDelivered' });
    expect(settled).toMatchObject([
      { delivery: { outcome: 'failed' }, next: { at: now + 5_000 + 10_000 + 60_000 } },
    ]);
  });

  it.each([
    [1, 120],
    [2, 240],
    [3, 480],
  ])('failed, with %d failed before it, waits %d s', async (attempts, seconds) => {
    const { services, settled } = stage({ answer: { ...ok, status: 500 }, webhook: { attempts }, takes: 0 });
    await rejection(deliverWebhook(payload, services));
    expect(settled[0]?.next).toEqual({ at: now + 5_000 + seconds * 1000 });
  });

  it('failed for the fifth time is the end of it, and an ordinary one', async () => {
    const { services, settled, log } = stage({ answer: { ...ok, status: 500 }, webhook: { attempts: 4 } });
    expect(await deliverWebhook(payload, services)).toEqual(payload);
    expect(settled[0]?.next).toEqual({ status: 'failed' });
    expect(log.lines).toEqual(['info webhook_attempted']);
  });

  it('410 ends the attempts at once', async () => {
    const { services, settled } = stage({ answer: { ...ok, status: 410 } });
    expect(await deliverWebhook(payload, services)).toEqual(payload);
    expect(settled).toMatchObject([
      { delivery: { outcome: 'failed', status: 410 }, next: { status: 'failed' } },
    ]);
  });

  it('keeps 500 characters of what the receiver said, and logs none of it', async () => {
    const { services, settled, log } = stage({ answer: { ...ok, excerpt: 'x'.repeat(16_384) } });
    await deliverWebhook(payload, services);
    expect(settled[0]?.delivery.responseExcerpt).toBe('x'.repeat(500));
    expect(log.text()).not.toContain('xxx');
    expect(log.text()).not.toContain('hooks.test');
  });
});

describe('nothing is sent', () => {
  it('without a secret: the delivery is skipped for good', async () => {
    const { services, steps } = stage({ secrets: [] });
    expect(await deliverWebhook(payload, services)).toEqual(payload);
    expect(steps).toEqual(['skip']);
  });

  it.each<[string, Setting]>([
    ['when the creation is not there, as after a restore of the table', { creation: null }],
    [
      'when no webhook was wanted',
      { creation: { webhook: undefined } as unknown as Partial<CreationRecord> },
    ],
    ['when it was delivered', { webhook: { status: 'delivered' } }],
    ['when it failed', { webhook: { status: 'failed' } }],
    ['when it was skipped', { webhook: { status: 'skipped' } }],
    ['while the fifth attempt may still be under way', { webhook: { attempts: 5, nextAt: now + 5_001 } }],
    [
      'before the creation is terminal',
      { creation: { completedAt: undefined } as unknown as Partial<CreationRecord> },
    ],
  ])('%s', async (_when, setting) => {
    const { services, steps } = stage(setting);
    expect(await deliverWebhook(payload, services)).toEqual(payload);
    expect(steps).toEqual([]);
  });
});

describe('a fifth attempt that was begun and never settled', () => {
  it('is the end of it once its time is over: nothing stays pending for good', async () => {
    const { services, steps } = stage({ webhook: { attempts: 5, nextAt: now + 5_000 } });
    expect(await deliverWebhook(payload, services)).toEqual(payload);
    expect(steps).toEqual(['give up']);
  });
});

describe('a failed creation', () => {
  it('is announced as such, with its message', async () => {
    const { services, sent } = stage({
      creation: { status: 'failed', failure: 'NothingRendered', results: [] },
    });
    await deliverWebhook(payload, services);
    expect(sent[0]?.headers['x-webhook-event']).toBe('creation.failed');
    expect(JSON.parse(sent[0]?.body ?? '{}')).toMatchObject({
      event: 'creation.failed',
      error: expect.stringMatching(/^Nothing was rendered/) as string,
    });
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
          accountSecrets: async () => Promise.reject(new TypeError('secret of the table')),
        }),
      },
    };
  };

  it('is an alarm that names the error and nothing of its text, and is tried again', async () => {
    const { services, log } = broken();
    expect(await rejection(deliverOrAlarm(payload, services))).toMatchObject({ name: 'TypeError' });
    expect(log.lines).toEqual(['alarm webhook_delivery_broke']);
    expect(log.text()).toBe(JSON.stringify([{ creationId, error: 'TypeError' }]));
  });

  it('is none when only the receiver failed', async () => {
    const { services, log } = stage({ answer: { ...ok, status: 500 } });
    expect(await rejection(deliverOrAlarm(payload, services))).toMatchObject({ name: 'WebhookNotDelivered' });
    expect(log.lines).toEqual(['info webhook_attempted']);
  });

  it('or is made says in its line of the log whose it is', async () => {
    const { services, log } = stage();
    await deliverWebhook(payload, services);
    expect(log.text()).toContain(
      `"creationId":"${creationId}","accountId":"${accountId}","executionId":"${creationId}"`,
    );
  });
});
