import { describe, expect, it } from 'vitest';
import { Overloaded } from '../../service/values/errors.ts';
import { deliverOrAlarm, deliverWebhook } from '../../service/webhooks/deliver-webhook.ts';
import { signature256 } from '../../service/webhooks/webhook.ts';
import { rejection, failureOf } from '../api/fakes.ts';
import { accountId, creationId, now } from '../fixtures/records.ts';
import { payload, stage, current, previous } from './deliver-webhook-fixture.ts';

const day = 86_400_000;

describe('a delivery attempt', () => {
  it('The attempt is claimed before anything is sent', async () => {
    const { services, steps } = stage();
    expect(await deliverWebhook(payload, services)).toEqual(payload);
    expect(steps).toEqual(['claim', 'post', 'settle']);
  });

  it('An attempt that another execution has claimed is not sent', async () => {
    const { services, steps } = stage({ isClaimed: false });
    expect(await failureOf(deliverWebhook(payload, services))).toBe('WebhookNotDelivered');
    expect(steps).toEqual(['claim']);
  });

  it('The attempt is signed at its own time with the current secret and with the replaced secret', async () => {
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

  it('A replaced secret that nobody can open is left out of the signatures, and an operator is notified', async () => {
    const { services, sent, log } = stage({ secrets: bothSecrets, lost: [previous] });
    await deliverOrAlarm(payload, services);
    expect(sent[0]?.headers['webhook-signature']?.split(' ')).toHaveLength(1);
    expect(sent[0]?.headers).not.toHaveProperty('x-webhook-signature-256-previous');
    expect(log.lines).toEqual(['alarm webhook_secret_lost', 'info webhook_attempted']);
    expect(log.text()).toContain(`"creationId":"${creationId}","accountId":"${accountId}"`);
    expect(log.text()).toContain('"issuedAt":"1970-01-01T00:00:00.001Z"');
  });

  it('When nobody can open the signing secret, nothing is sent, an alarm is raised and the attempt is tried again', async () => {
    const { services, steps, log } = stage({ secrets: bothSecrets, lost: [current] });
    expect(await failureOf(deliverOrAlarm(payload, services))).toBe('SecretLost');
    expect(steps).toEqual([]);
    expect(log.lines).toEqual(['alarm webhook_delivery_broke']);
  });

  it('When Secrets Manager is busy, nothing is claimed, sent or given up, and no secret counts as lost', async () => {
    const { services, steps, log } = stage();
    const open = async (): Promise<string> => Promise.reject(new Overloaded('busy'));
    const busy = { ...services, secretBox: { ...services.secretBox, open } };
    expect(await failureOf(deliverOrAlarm(payload, busy))).toBe('Overloaded');
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
  ])('The attempt is signed at the whole second that has begun: %i ms are %i s', async (millis, seconds) => {
    const { services, sent, claims } = stage({ at: now + millis });
    await deliverWebhook(payload, services);
    const timestamp = String(now / 1_000 + seconds);
    expect(sent[0]?.headers).toMatchObject({ 'x-timestamp': timestamp, 'webhook-timestamp': timestamp });
    expect(claims[0]?.delivery.startedAt).toBe(new Date(now + millis).toISOString());
  });

  it('A later attempt sends the bytes of the first one with a delivery id and an attempt number of its own', async () => {
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

describe('the record of a delivery attempt', () => {
  const deliveryId = '01a1fdfa-ceb8-7607-8809-0a0b0c0d0e0f';
  const delivery = {
    id: deliveryId,
    accountId,
    creationId,
    event: 'creation.completed',
    url: 'https://hooks.test/a',
    attempt: 1,
    startedAt: '2026-11-21T12:00:35.000Z',
  };

  it('The claim holds the delivery, the body and the earliest time of the next attempt', async () => {
    const { services, claims, sent, clock } = stage();
    await deliverWebhook(payload, services);
    expect(claims).toEqual([{ delivery, body: sent[0]?.body, nextAt: now + 95_000, nowMillis: now + 5_000 }]);
    expect(JSON.parse(sent[0]?.body ?? '')).toEqual({
      event: 'creation.completed',
      id: creationId,
      status: 'completed',
      result_urls: ['https://results.test/results/unguessable.png'],
      cost: 0.04,
      metadata: {},
      created_at: '2026-11-21T12:00:30.000Z',
      completed_at: '2026-11-21T12:00:34.000Z',
    });
    expect(sent[0]).toMatchObject({
      url: 'https://hooks.test/a',
      headers: { 'x-webhook-delivery-id': deliveryId, 'x-webhook-event': 'creation.completed' },
    });
    expect(clock.sleeps).toEqual([]);
  });

  it.each([
    [0, 95_000],
    [1, 155_000],
    [2, 275_000],
    [3, 515_000],
    [4, 35_000],
  ])(
    'The claim after %i attempts lasts %i ms: as long as the function may run, and the wait behind it',
    async (attempts, until) => {
      const { services, claims } = stage({ webhook: { attempts } });
      await deliverWebhook(payload, services);
      expect(claims.map(({ nextAt }) => nextAt - now)).toEqual([until]);
    },
  );

  it('The settled attempt and its log line have the duration in whole milliseconds', async () => {
    const { services, settled, log } = stage({ takes: 250.6 });
    await deliverWebhook(payload, services);
    expect(settled).toEqual([
      {
        delivery: {
          ...delivery,
          millis: 251,
          outcome: 'delivered',
          status: 200,
          responseExcerpt: 'thanks',
          responseHeaders: {},
          signedAt: Math.floor((now + 5_000) / 1000),
          cuts: { current: 'bcae', standard: ['TMAX'] },
        },
        next: { status: 'delivered' },
      },
    ]);
    expect(log.entries).toEqual([
      [
        'info webhook_attempted',
        {
          creationId,
          accountId,
          executionId: creationId,
          deliveryId,
          attempt: 1,
          outcome: 'delivered',
          status: 200,
          millis: 251,
        },
      ],
    ]);
  });

  it('An attempt that was not delivered throws an error that says where the next time stands', async () => {
    const { services } = stage({
      answer: { kind: 'unanswered', reason: 'timeout', failure: 'timeout' },
      takes: 250.4,
    });
    expect(await rejection(deliverWebhook(payload, services))).toEqual({
      name: 'WebhookNotDelivered',
      message: 'not delivered yet; the record says when the next attempt is due',
    });
  });
});
