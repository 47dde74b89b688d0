import { describe, expect, it } from 'vitest';
import type { SealedSecret } from '../../core/account.ts';
import type { CreationRecord, WebhookState } from '../../core/creation.ts';
import type { CreationStore } from '../../core/ports/creations.ts';
import type { Delivery, DeliveryClaim, DeliveryStore } from '../../core/ports/deliveries.ts';
import type { Outbound, PostResult } from '../../core/ports/outbound.ts';
import { SecretLost, type SecretBox } from '../../core/ports/secret-box.ts';
import { signature256, webhookSecret } from '../../core/webhook.ts';
import { deliverOrAlarm, deliverWebhook } from '../../functions/workflow/deliver-webhook.ts';
import type { DeliveryServices } from '../../functions/services/delivery.ts';
import { accountId, aCompletedCreation, creationId, now, seededBytes } from '../fixtures/records.ts';
import { fakeClock, fakeLog, rejection, stub, type FakeClock, type FakeLog } from './fakes.ts';

const payload = { creation_id: creationId };
const [current, previous] = [
  webhookSecret(new Uint8Array(32).fill(1)),
  webhookSecret(new Uint8Array(32).fill(2)),
];
const ok: PostResult = { kind: 'answered', status: 200, excerpt: 'thanks' };
const day = 86_400_000;

interface Sent {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

interface Stage {
  readonly services: DeliveryServices;
  readonly clock: FakeClock;
  readonly log: FakeLog;
  readonly steps: string[];
  readonly claims: DeliveryClaim[];
  readonly sent: Sent[];
  readonly settled: { readonly delivery: Delivery; readonly next: Parameters<DeliveryStore['settle']>[1] }[];
}

interface Setting {
  readonly webhook?: Partial<WebhookState>;
  /** null: there is none. */
  readonly creation?: Partial<CreationRecord> | null;
  readonly secrets?: readonly SealedSecret[];
  readonly isClaimed?: boolean;
  /** Sealed secrets that nobody can open. */
  readonly lost?: readonly string[];
  /** What the receiver answers, after so many milliseconds. */
  readonly answer?: PostResult;
  readonly takes?: number;
  readonly at?: number;
}

function stage(setting: Setting = {}): Stage {
  const {
    secrets = [{ sealed: current, issuedAt: 0 }],
    isClaimed = true,
    answer = ok,
    takes = 250,
    at = now + 5_000,
  } = setting;
  const webhook: WebhookState = {
    url: 'https://hooks.test/a',
    status: 'pending',
    attempts: 0,
    nextAt: now,
    ...setting.webhook,
  };
  const [steps, claims, sent, settled]: [string[], DeliveryClaim[], Sent[], Stage['settled']] = [
    [],
    [],
    [],
    [],
  ];
  const clock = fakeClock(at);
  const log = fakeLog();
  const deliveries = stub<DeliveryStore>({
    accountSecrets: async () => Promise.resolve(secrets),
    claim: async (claim) => {
      steps.push('claim');
      claims.push(claim);
      return Promise.resolve(isClaimed);
    },
    settle: async (delivery, next) => {
      steps.push('settle');
      settled.push({ delivery, next });
      return Promise.resolve();
    },
    skip: async () => Promise.resolve(void steps.push('skip')),
    giveUp: async () => Promise.resolve(void steps.push('give up')),
  });
  const services = stub<DeliveryServices>({
    clock,
    log,
    randomBytes: seededBytes,
    resultsBaseUrl: 'https://results.test',
    creations: stub<CreationStore>({
      read: async () =>
        Promise.resolve(
          setting.creation === null ? undefined : aCompletedCreation({ webhook, ...setting.creation }),
        ),
    }),
    deliveries,
    secretBox: stub<SecretBox>({
      open: async (_account, sealed) => {
        if (setting.lost?.includes(sealed)) throw new SecretLost('gone');
        return Promise.resolve(sealed);
      },
    }),
    outbound: stub<Outbound>({
      post: async (url, headers, body) => {
        steps.push('post');
        sent.push({ url, headers, body });
        clock.set(clock.now() + takes);
        return Promise.resolve(answer);
      },
    }),
  });
  return { services, clock, log, steps, claims, sent, settled };
}

describe('an attempt', () => {
  it('is claimed before anything is sent, with the time after which the next may start if it hangs', async () => {
    const { services, steps, claims } = stage();
    expect(await deliverWebhook(payload, services)).toEqual(payload);
    expect(steps).toEqual(['claim', 'post', 'settle']);
    expect(claims[0]).toMatchObject({
      nowMillis: now + 5_000,
      nextAt: now + 5_000 + 10_000 + 60_000,
      delivery: {
        creationId,
        attempt: 1,
        event: 'creation.completed',
        url: 'https://hooks.test/a',
        startedAt: '2026-11-21T12:00:35.000Z',
      },
    });
  });

  it('that another execution has is not sent', async () => {
    const { services, steps } = stage({ isClaimed: false });
    expect(await rejection(deliverWebhook(payload, services))).toMatchObject({ name: 'WebhookNotDelivered' });
    expect(steps).toEqual(['claim']);
  });

  it('is signed at its own time with the current secret, and for the replaced one as well', async () => {
    const secrets = [
      { sealed: current, issuedAt: now },
      { sealed: previous, issuedAt: 0, replacedAt: now + 5_000 - day + 1 },
    ];
    const { services, sent } = stage({ secrets });
    await deliverWebhook(payload, services);
    const headers = sent[0]?.headers;
    const timestamp = String((now + 5_000) / 1000);
    expect(headers).toMatchObject({ 'x-timestamp': timestamp, 'x-webhook-attempt': '1' });
    expect(headers?.['x-webhook-signature-256']).toBe(signature256(current, timestamp, sent[0]?.body ?? ''));
    expect(headers?.['webhook-signature']?.split(' ')).toHaveLength(2);
  });

  const bothSecrets = [
    { sealed: current, issuedAt: now },
    { sealed: previous, issuedAt: 1, replacedAt: now },
  ];

  it('carries a signature made with the replaced secret as well, in a header of its own', async () => {
    const { services, sent } = stage({ secrets: bothSecrets });
    await deliverWebhook(payload, services);
    const timestamp = String((now + 5_000) / 1000);
    expect(sent[0]?.headers['x-webhook-signature-256-previous']).toBe(
      signature256(previous, timestamp, sent[0]?.body ?? ''),
    );
  });

  it('is sent without the signature of a replaced secret that nobody can open, and an operator is told', async () => {
    const { services, sent, log } = stage({ secrets: bothSecrets, lost: [previous] });
    await deliverOrAlarm(payload, services);
    expect(sent[0]?.headers['webhook-signature']?.split(' ')).toHaveLength(1);
    expect(sent[0]?.headers).not.toHaveProperty('x-webhook-signature-256-previous');
    expect(log.lines).toEqual(['alarm webhook_secret_lost', 'info webhook_attempted']);
    expect(log.text()).toContain(`"creationId":"${creationId}","accountId":"${accountId}"`);
    expect(log.text()).toContain('"issuedAt":"1970-01-01T00:00:00.001Z"');
  });

  it('is not made when nobody can open the secret that signs: that is an alarm, and it is tried again', async () => {
    const { services, steps, log } = stage({ secrets: bothSecrets, lost: [current] });
    expect(await rejection(deliverOrAlarm(payload, services))).toMatchObject({ name: 'SecretLost' });
    expect(steps).toEqual([]);
    expect(log.lines).toEqual(['alarm webhook_delivery_broke']);
  });

  it.each([
    [0, 0],
    [1, 0],
    [499, 0],
    [500, 0],
    [999, 0],
    [1_000, 1],
  ])('is signed at the whole second that has begun: %i ms are %i s', async (millis, seconds) => {
    const { services, sent, claims } = stage({ at: now + millis });
    await deliverWebhook(payload, services);
    const timestamp = String(now / 1_000 + seconds);
    expect(sent[0]?.headers).toMatchObject({ 'x-timestamp': timestamp, 'webhook-timestamp': timestamp });
    expect(claims[0]?.delivery.startedAt).toBe(new Date(now + millis).toISOString());
  });

  it('is not signed with a secret that was replaced 24 hours ago', async () => {
    const secrets = [
      { sealed: current, issuedAt: now },
      { sealed: previous, issuedAt: 0, replacedAt: now + 5_000 - day },
    ];
    const { services, sent } = stage({ secrets });
    await deliverWebhook(payload, services);
    expect(sent[0]?.headers['webhook-signature']?.split(' ')).toHaveLength(1);
  });

  it('sends the bytes of the first one again, its own delivery id and attempt number with them', async () => {
    const { services, sent, claims } = stage({ webhook: { attempts: 2, body: '{"as":"before"}' } });
    await deliverWebhook(payload, services);
    expect(sent[0]?.body).toBe('{"as":"before"}');
    expect(sent[0]?.headers).toMatchObject({
      'x-webhook-attempt': '3',
      'x-webhook-delivery-id': claims[0]?.delivery.id,
      'webhook-id': `${creationId}:creation.completed`,
    });
  });
});

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
