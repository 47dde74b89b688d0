/** A delivery as the portal shows it: the reason in words, and the headers without a signature. */
import { describe, expect, it } from 'vitest';
import { alertsVersion, keyVersion } from '../../service/accounts/version.ts';
import { deliveryDetail, deliveryReason, deliveryRow } from '../../service/portal/delivery-view.ts';
import { memberVersion } from '../../service/portal/people.ts';
import type { NoticeId } from '../../service/values/ids.ts';
import { asMicros } from '../../service/values/money.ts';
import type { Delivery } from '../../service/webhooks/delivery.ts';
import { nilId, sampleBody } from '../../service/webhooks/samples.ts';
import { endedDelivery, webhookHeaders, webhookSecret } from '../../service/webhooks/webhook.ts';
import { accountId, anAccount, anApiKey, creationId, now } from '../fixtures/records.ts';

const begun: Delivery = {
  id: '019aa5a0-2000-7000-8000-00000000000b',
  accountId,
  creationId,
  event: 'creation.completed',
  url: 'https://hooks.studio.example:8443/a?token=1',
  attempt: 2,
  startedAt: '2026-11-21T12:00:30.000Z',
};

const failed = (change: Partial<Delivery>): Delivery => ({ ...begun, outcome: 'failed', ...change });

describe('the reason in words', () => {
  it.each([
    [{ failure: 'dns' }, /no address\. Check/],
    [{ failure: 'tls_self_signed' }, /self-signed/],
    [{ failure: 'timeout' }, /10 seconds/],
    [{ failure: 'address_refused' }, /not allowed/],
    [{ failure: 'too_large' }, /too long/],
    [{ reason: 'connection refused' }, /refused the connection/],
    [{ reason: 'something older' }, /no valid HTTP/],
    [{ status: 301 }, /redirect \(301\), which is never followed/],
    [{ status: 404 }, /nothing is at this path/],
    [{ status: 410 }, /ends the deliveries/],
    [{ status: 418 }, /Only a status from 200 to 299/],
    [{ status: 503 }, /answered 503: it failed/],
  ] as const)('%j has a sentence of its own', (change, words) => {
    expect(deliveryReason(failed(change))).toMatch(words);
  });

  it('Every reason says what to do, and ends as a sentence', () => {
    for (const failure of ['dns', 'tls', 'tls_expired', 'tls_chain', 'unreachable', 'no_http'] as const)
      expect(deliveryReason(failed({ failure }))).toMatch(/^[A-Z].*\. [A-Z].*\.$/);
  });

  it('An attempt that was delivered, or of which nobody knows, has no reason', () => {
    expect(deliveryReason({ ...begun, outcome: 'delivered', status: 204 })).toBeNull();
    expect(deliveryReason(begun)).toBeNull();
  });
});

describe('the request that is shown', () => {
  const secrets = [1, 2].map((fill) => webhookSecret(new Uint8Array(32).fill(fill)));
  const [current = '', previous = ''] = secrets;
  const signed = { event: begun.event, deliveryId: begun.id, attempt: 2, signedAtSeconds: 1_763_726_434 };
  const sent = webhookHeaders(
    { ...signed, messageId: `${creationId}:creation.completed`, body: '{}' },
    { current, previous, valid: secrets, lost: [] },
  );
  const answer = { kind: 'answered', status: 500, excerpt: '<b>no</b>', headers: { server: 'x' } } as const;
  const detail = deliveryDetail(endedDelivery(begun, answer, sent), '{"id":1}', true);

  it('The headers are those that were sent, with cut signatures', () => {
    const { headers } = detail.request;
    expect(Object.keys(headers).sort()).toEqual(Object.keys(sent).sort());
    for (const [name, value] of Object.entries(headers))
      if (name.includes('signature'))
        for (const [place, part] of value.split(' ').entries()) {
          expect(part).toMatch(/^(sha256=[0-9a-f]{4}|v1,.{4})…$/);
          expect((sent[name] ?? '').split(' ')[place]).toContain(part.slice(0, -1));
        }
      else expect(value, name).toBe(sent[name]);
  });

  it('Body and answer are shown as they are, and the host without the query', () => {
    expect(detail).toMatchObject({
      host: 'hooks.studio.example:8443',
      request: { body: '{"id":1}' },
      response: { status: 500, headers: { server: 'x' }, body: '<b>no</b>' },
      can_redeliver: true,
    });
  });

  it('A test has its own body, one attempt, no creation, and cannot be sent again', () => {
    const test = deliveryDetail({ ...begun, creationId: nilId, attempt: 1 }, undefined, true);
    expect(test).toMatchObject({ is_test: true, creation: null, of: 1, can_redeliver: false });
    expect(test.request.body).toBe(sampleBody('creation.completed', begun.startedAt));
    expect(test.request.headers['webhook-id']).toBe(`${begun.id}:creation.completed`);
  });

  it('A notice has the header of notices, and its id as the id of the message', () => {
    const noticeId = 'ntc_019aa5a0-1000-7000-8000-00000000000a' as NoticeId;
    const { creationId: _none, ...rest } = begun;
    const notice = { ...rest, noticeId, event: 'wallet.low' };
    const { headers } = deliveryDetail(notice, '{}', false).request;
    expect(headers).toMatchObject({ 'x-darkroom-notice': 'wallet.low', 'webhook-id': noticeId });
    expect(deliveryRow(notice)).toMatchObject({ creation: null, of: 5, outcome: 'unknown', reason: null });
  });

  it('A row of an older release shows no signature, and the time of its start', () => {
    const { headers } = deliveryDetail(failed({ reason: 'timeout' }), undefined, false).request;
    expect(headers['x-webhook-signature-256']).toBe('…');
    expect(headers['x-timestamp']).toBe(String(Date.parse(begun.startedAt) / 1000));
  });
});

const cap = asMicros(1_000_000);

const at = new Date(now).toISOString();

/** The versions that a page sends back with a change. */
describe('the version of a key', () => {
  it('Each value that can be changed makes another version', () => {
    const versions = [
      ...[{}, { name: 'other' }, { models: [] }, { models: ['sandbox-sketch'] }],
      ...[{ expiresAt: at }, { revokedAt: at }, { dailyCapMicros: cap }, { monthlyCapMicros: cap }],
      ...[{ totalCapMicros: cap }, { perUserMonthlyCapMicros: cap }],
    ].map((change) => keyVersion(anApiKey(change)));
    expect(new Set(versions).size).toBe(10);
  });

  it('A charge makes no other version', () => {
    const charged = anApiKey({ spent: { '2026_11': cap }, lastUsedAt: at });
    expect(keyVersion(charged)).toBe(keyVersion(anApiKey()));
  });
});

describe('the version of alerts and of a person', () => {
  it('Each value that can be changed makes another version', () => {
    const versions = [
      {},
      { noticeUrl: 'https://a.test/' },
      { noticeUrl: 'https://b.test/' },
      { lowBalanceMicros: cap },
    ].map((change) => alertsVersion(anAccount(change)));
    expect(new Set(versions).size).toBe(4);
    const members = [
      { role: 'viewer' },
      { role: 'developer' },
      { role: 'developer', keyCapMicros: cap },
      { role: 'developer', keyCapMicros: asMicros(0) },
    ] as const;
    expect(new Set(members.map(memberVersion)).size).toBe(4);
  });

  it('A charge makes no other version of the alerts', () => {
    expect(alertsVersion(anAccount({ availableMicros: cap }))).toBe(alertsVersion(anAccount()));
  });
});
