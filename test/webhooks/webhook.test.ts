import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { webhookAttemptMillis, webhookResponseBytes } from '../../service/contract/limits.ts';
import { asMicros } from '../../service/values/money.ts';
import type { Delivery } from '../../service/webhooks/delivery.ts';
import { replacedSecretSeconds } from '../../service/webhooks/secrets.ts';
import {
  endedDelivery,
  signature256,
  standardSignature,
  testDeliverySeconds,
  webhookAttempts,
  webhookBody,
  webhookHeaders,
  webhookSecret,
  webhookWaitsSeconds,
} from '../../service/webhooks/webhook.ts';
import { accountId, aCompletedCreation, aCreation, creationId } from '../fixtures/records.ts';

describe('the body of a webhook', () => {
  it('The body of a completed creation has exactly these bytes', () => {
    const creation = aCompletedCreation({ metadata: { order: 'A-1', name: 'Zoë' } });
    expect(webhookBody(creation, ['https://results.test/results/unguessable.png'])).toBe(
      '{"event":"creation.completed","id":"019aa5a0-1000-7000-8000-00000000000a","status":"completed",' +
        '"result_urls":["https://results.test/results/unguessable.png"],"cost":0.04,' +
        '"metadata":{"order":"A-1","name":"Zoë"},' +
        '"created_at":"2026-11-21T12:00:30.000Z","completed_at":"2026-11-21T12:00:34.000Z"}',
    );
  });

  it('The body of a failed creation has the message and the code of the failure and no addresses', () => {
    const creation = aCreation({
      status: 'failed',
      failure: 'GenerationTimedOut',
      refundedMicros: asMicros(40_000),
      completedAt: '2026-11-21T12:05:30.000Z',
    });
    expect(webhookBody(creation, [])).toBe(
      '{"event":"creation.failed","id":"019aa5a0-1000-7000-8000-00000000000a","status":"failed","cost":0.04,' +
        '"error":"Generation timed out.","error_code":"timed_out","metadata":{},' +
        '"created_at":"2026-11-21T12:00:30.000Z","completed_at":"2026-11-21T12:05:30.000Z","cancelled_at":null}',
    );
  });
});

describe('the body of the webhook of a cancelled creation', () => {
  it('The body says when the creation was cancelled, and the body of a completed one has no such field', () => {
    const cancelledAt = '2026-11-21T12:05:30.000Z';
    const cancelled = aCreation({ status: 'failed', failure: 'InternalFailure', cancelledAt });
    expect(JSON.parse(webhookBody(cancelled, []))).toMatchObject({
      event: 'creation.failed',
      error: 'Generation failed.',
      error_code: 'cancelled',
      cancelled_at: cancelledAt,
    });
    expect(JSON.parse(webhookBody(aCreation({ status: 'completed' }), []))).not.toHaveProperty(
      'cancelled_at',
    );
  });
});

describe('X-Webhook-Signature-256', () => {
  it('The header X-Webhook-Signature-256 uses the whole secret with its prefix as the key, and signs the bytes of the body in UTF-8', () => {
    const secret = webhookSecret(new Uint8Array(32).fill(1));
    const bytes = Buffer.concat([
      Buffer.from('1700000000', 'ascii'),
      Buffer.from('.', 'ascii'),
      Buffer.from('{"n":"Zoë — ü"}', 'utf8'),
    ]);
    const expected = createHmac('sha256', Buffer.from(secret, 'utf8')).update(bytes).digest('hex');
    expect(signature256(secret, '1700000000', '{"n":"Zoë — ü"}')).toBe(`sha256=${expected}`);
  });
});

describe('webhook-signature', () => {
  it('The header webhook-signature equals the test vector of Standard Webhooks', () => {
    // From the tests of github.com/standard-webhooks/standard-webhooks, libraries/javascript.
    const signature = standardSignature(
      'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
      'msg_p5jXN8AQM9LWM0D4loKWxJek',
      '1614265330',
      '{"test": 2432232314}',
    );
    expect(signature).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
  });
});

describe('a webhook secret', () => {
  it('A webhook secret consists of whsec_ and the base64 of 32 bytes', () => {
    const secret = webhookSecret(Uint8Array.from({ length: 32 }, (_, index) => index));
    expect(secret).toBe('whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=');
  });
});

describe('the headers of an attempt', () => {
  const [current, previous] = [
    webhookSecret(new Uint8Array(32).fill(1)),
    webhookSecret(new Uint8Array(32).fill(2)),
  ];
  const attempt = {
    event: 'creation.completed',
    messageId: `${creationId}:creation.completed`,
    deliveryId: '019aa5a0-2000-7000-8000-00000000000b',
    attempt: 3,
    signedAtSeconds: 1_763_726_434,
    body: '{"id":"x"}',
  } as const;
  const headers = webhookHeaders(attempt, { current, previous, valid: [current, previous], lost: [] });
  const standard = (secret: string): string =>
    `v1,${createHmac('sha256', Buffer.from(secret.slice(6), 'base64'))
      .update(`${attempt.messageId}.1763726434.{"id":"x"}`)
      .digest('base64')}`;

  it('The headers of an attempt are the documented ones and the three of Standard Webhooks', () => {
    expect(headers).toEqual({
      'content-type': 'application/json',
      'user-agent': 'Darkroom-Webhooks/1',
      'x-webhook-event': 'creation.completed',
      'x-webhook-delivery-id': '019aa5a0-2000-7000-8000-00000000000b',
      'x-webhook-attempt': '3',
      'x-timestamp': '1763726434',
      'x-webhook-signature-256': `sha256=${createHmac('sha256', current).update('1763726434.{"id":"x"}').digest('hex')}`,
      'x-webhook-signature-256-previous': `sha256=${createHmac('sha256', previous).update('1763726434.{"id":"x"}').digest('hex')}`,
      'webhook-id': `${creationId}:creation.completed`,
      'webhook-timestamp': '1763726434',
      'webhook-signature': `${standard(current)} ${standard(previous)}`,
    });
  });
});

describe('the outcome of an attempt', () => {
  const delivery = {
    id: 'd',
    accountId,
    creationId,
    event: 'creation.completed',
    url: 'https://hooks.test',
    attempt: 1,
    startedAt: '2026-11-21T12:00:30.000Z',
  } as const;
  const sent = {
    'x-timestamp': '1763726434',
    'x-webhook-signature-256': 'sha256=0123456789abcdef',
    'webhook-signature': 'v1,AbCdEf= v1,GhIjKl=',
  };
  const signed = { signedAt: 1_763_726_434, cuts: { current: '0123', standard: ['AbCd', 'GhIj'] } };

  it.each([
    [0, 'failed'],
    [101, 'failed'],
    [199, 'failed'],
    [200, 'delivered'],
    [204, 'delivered'],
    [299, 'delivered'],
    [300, 'failed'],
    [301, 'failed'],
    [307, 'failed'],
    [404, 'failed'],
    [410, 'failed'],
    [500, 'failed'],
  ] as const)('An attempt with status %i is %s', (status, outcome) => {
    const answer = { kind: 'answered', status, excerpt: 'thanks', headers: { server: 'x' } } as const;
    expect(endedDelivery(delivery, answer, sent)).toEqual({
      ...delivery,
      ...signed,
      outcome,
      status,
      responseExcerpt: 'thanks',
      responseHeaders: { server: 'x' },
    });
  });

  it('An attempt without an answer is failed with a reason and a kind of failure', () => {
    const silent = { kind: 'unanswered', reason: 'timeout', failure: 'timeout' } as const;
    expect(endedDelivery(delivery, silent, sent)).toEqual({
      ...delivery,
      ...signed,
      outcome: 'failed',
      reason: 'timeout',
      failure: 'timeout',
    });
  });

  const kept = (excerpt: string, headers: Readonly<Record<string, string>> = {}): Delivery =>
    endedDelivery(delivery, { kind: 'answered', status: 500, excerpt, headers }, sent);

  it.each([
    ['x'.repeat(1_024), 'x'.repeat(1_024)],
    ['x'.repeat(1_025), 'x'.repeat(1_024)],
    [`x${'é'.repeat(512)}`, `x${'é'.repeat(511)}`],
  ])('A body is kept up to 1 KiB, and a character that is cut is left out', (sent, expected) => {
    expect(kept(sent).responseExcerpt).toBe(expected);
  });

  it('At most 16 headers are kept, and at most 1 KiB of them', () => {
    const many = Object.fromEntries(Array.from({ length: 20 }, (_, number) => [`h-${number}`, 'v']));
    expect(Object.keys(kept('', many).responseHeaders ?? {})).toHaveLength(16);
    const long = { a: 'x'.repeat(500), b: 'x'.repeat(522), c: '', d: 'x' };
    expect(Object.keys(kept('', long).responseHeaders ?? {})).toEqual(['a', 'b']);
  });
});

describe('the numbers of webhooks', () => {
  it('A webhook has these limits of size and time', () => {
    expect({ webhookResponseBytes, replacedSecretSeconds, testDeliverySeconds }).toEqual({
      webhookResponseBytes: 16_384,
      replacedSecretSeconds: 86_400,
      testDeliverySeconds: 30,
    });
  });
});

describe('the schedule of attempts', () => {
  it('The schedule has five attempts of ten seconds with waits of 60, 120, 240 and 480 s', () => {
    expect(webhookWaitsSeconds).toEqual([60, 120, 240, 480]);
    expect(webhookAttempts).toBe(webhookWaitsSeconds.length + 1);
    expect(webhookAttemptMillis).toBe(10_000);
  });
});
