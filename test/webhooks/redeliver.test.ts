import { describe, expect, it } from 'vitest';
import type { Account } from '../../service/accounts/account.ts';
import type { Outbound, PostResult } from '../../service/outbound/outbound.ts';
import type { CreationId, EndpointId } from '../../service/values/ids.ts';
import type { DeliveryStore } from '../../service/webhooks/delivery-store.ts';
import type { Delivery } from '../../service/webhooks/delivery.ts';
import {
  redeliver,
  type RedeliveryServices,
  sendTestDelivery,
  type TestServices,
} from '../../service/webhooks/redeliver.ts';
import { type SecretBox, SecretLost } from '../../service/webhooks/secret-box.ts';
import { deliveryDetail } from '../../service/portal/delivery-view.ts';
import { sampleBody } from '../../service/webhooks/samples.ts';
import { signature256, standardSignature, webhookSecret } from '../../service/webhooks/webhook.ts';
import { schema } from '../../service/values/runtime.ts';
import { fakeClock, stub } from '../api/fakes.ts';
import {
  accountId,
  aCompletedCreation,
  anAccount,
  creationId,
  now,
  seededBytes,
} from '../fixtures/records.ts';

const secret = webhookSecret(new Uint8Array(32).fill(1));
const account = anAccount({ webhookSecrets: [{ sealed: secret, issuedAt: 0 }] });
const url = 'https://hooks.test/';

interface Sent {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Services of which everything succeeds, unless the test says otherwise; 432.6 ms pass during the POST. */
function services(change: { readonly outbound?: Partial<Outbound>; readonly waitMillis?: number } = {}) {
  const sent: Sent[] = [];
  const recorded: Delivery[] = [];
  const claims: unknown[][] = [];
  const clock = fakeClock(now + 999);
  const given: TestServices = {
    clock,
    randomBytes: seededBytes,
    secretBox: stub<SecretBox>({
      open: async (_account, sealed) =>
        sealed === 'lost' ? Promise.reject(new SecretLost('gone')) : Promise.resolve(sealed),
    }),
    outbound: stub<Outbound>({
      check: async () => Promise.resolve({ kind: 'allowed' }),
      post: async (to, headers, body) => {
        sent.push({ url: to, headers, body });
        clock.set(clock.now() + 432.6);
        const answered: PostResult = { kind: 'answered', status: 204, excerpt: 'thanks', headers: {} };
        return Promise.resolve(answered);
      },
      ...change.outbound,
    }),
    deliveries: stub<DeliveryStore>({
      claimTest: async (...claim) => {
        claims.push(claim);
        return Promise.resolve(change.waitMillis ?? 0);
      },
      record: async (delivery) => {
        await new Promise(setImmediate);
        recorded.push(delivery);
      },
    }),
  };
  return { given, sent, recorded, claims };
}

const nilId = '00000000-0000-0000-0000-000000000000';
/** The UUIDv7 of the fake clock's time and of the seeded bytes. */
const deliveryId = '01a1fdfa-bf17-7607-8809-0a0b0c0d0e0f';
const startedAt = '2026-11-21T12:00:30.999Z';

describe('a test delivery', () => {
  it('A test delivery is one POST of a made-up event, signed as every attempt is, and its row is recorded', async () => {
    const { given, sent, recorded, claims } = services();
    const outcome = await sendTestDelivery(account, { url }, given);
    const body = JSON.stringify({
      event: 'creation.completed',
      id: nilId,
      status: 'completed',
      result_urls: [],
      cost: 0,
      metadata: { test: 'true' },
      created_at: startedAt,
      completed_at: startedAt,
    });
    const [post] = sent;
    const id = post?.headers['x-webhook-delivery-id'] ?? '';
    const timestamp = String(Math.floor(now / 1_000));
    expect(sent).toMatchObject([
      {
        url,
        body,
        headers: {
          'x-webhook-event': 'creation.completed',
          'x-webhook-attempt': '1',
          'x-timestamp': timestamp,
          'x-webhook-signature-256': signature256(secret, timestamp, body),
          'webhook-signature': standardSignature(secret, `${id}:creation.completed`, timestamp, body),
        },
      },
    ]);
    const attempt = { accountId, creationId: nilId, event: 'creation.completed', url, attempt: 1, startedAt };
    const answer = { millis: 433, outcome: 'delivered', status: 204, responseExcerpt: 'thanks' };
    expect(id).toBe(deliveryId);
    expect(recorded, 'the row is written before the operator is told').toMatchObject([
      { id, ...attempt, ...answer },
    ]);
    expect(outcome).toEqual({ kind: 'sent', delivery: recorded[0], lost: 0 });
    expect(claims).toEqual([[accountId, 30_000, now + 999]]);
  });

  it('A test delivery of a notice to an endpoint has the header of notices, and the endpoint in its row and its message', async () => {
    const { given, sent, recorded } = services();
    const endpointId = 'we_4nUc0Za7BpQ3xT' as EndpointId;
    await sendTestDelivery(account, { url, endpointId, event: 'endpoint.failing' }, given);
    const body = sampleBody('endpoint.failing', startedAt, { id: endpointId, url });
    const messageId = `${deliveryId}:endpoint.failing:${endpointId}`;
    expect(sent).toMatchObject([{ url, body, headers: { 'x-darkroom-notice': 'endpoint.failing' } }]);
    expect(sent[0]?.headers).toMatchObject({ 'webhook-id': messageId });
    expect(sent[0]?.headers).not.toHaveProperty('x-webhook-event');
    expect(recorded).toMatchObject([{ endpointId, creationId: nilId, event: 'endpoint.failing' }]);
    const [row] = recorded;
    expect(row && deliveryDetail(row, undefined, false)).toMatchObject({
      is_test: true,
      request: { body, headers: { 'x-darkroom-notice': 'endpoint.failing', 'webhook-id': messageId } },
    });
  });

  it('A test delivery says how many replaced secrets could not be opened', async () => {
    const replaced = { sealed: 'lost', issuedAt: 0, replacedAt: now };
    const rotated: Account = { ...account, webhookSecrets: [...account.webhookSecrets, replaced] };
    expect(await sendTestDelivery(rotated, { url }, services().given)).toMatchObject({
      kind: 'sent',
      lost: 1,
    });
  });

  it('A test delivery that gets no answer is recorded as failed, with the reason', async () => {
    const { given, recorded } = services({
      outbound: {
        post: async () => Promise.resolve({ kind: 'unanswered', reason: 'timeout', failure: 'timeout' }),
      },
    });
    await sendTestDelivery(account, { url }, given);
    expect(recorded).toMatchObject([{ outcome: 'failed', reason: 'timeout', millis: 0 }]);
  });

  it('A test delivery to an address that is refused sends nothing and takes no turn', async () => {
    const refused = { kind: 'refused', why: 'must be an https address' } as const;
    const { given, sent, claims } = services({ outbound: { check: async () => Promise.resolve(refused) } });
    expect(await sendTestDelivery(account, { url }, given)).toEqual(refused);
    expect({ sent, claims }).toEqual({ sent: [], claims: [] });
  });

  it('A test delivery of an account without a secret sends nothing and takes no turn', async () => {
    const { given, sent, claims } = services();
    expect(await sendTestDelivery(anAccount(), { url }, given)).toEqual({ kind: 'no_secret' });
    expect({ sent, claims }).toEqual({ sent: [], claims: [] });
  });

  it('A test delivery of an account whose signing secret is lost throws SecretLost and takes no turn', async () => {
    const { given, claims } = services();
    const lost = anAccount({ webhookSecrets: [{ sealed: 'lost', issuedAt: 0 }] });
    await expect(sendTestDelivery(lost, { url }, given)).rejects.toThrow(SecretLost);
    expect(claims).toEqual([]);
  });

  it.each([
    [1, 1],
    [1_000, 1],
    [1_001, 2],
    [29_400, 30],
  ])(
    'A test delivery that comes %d ms too soon says to wait %d s, and sends nothing',
    async (waitMillis, afterSeconds) => {
      const { given, sent, recorded } = services({ waitMillis });
      expect(await sendTestDelivery(account, { url }, given)).toEqual({ kind: 'too_soon', afterSeconds });
      expect({ sent, recorded }).toEqual({ sent: [], recorded: [] });
    },
  );
});

describe('a redelivery', () => {
  const creation = aCompletedCreation({
    executions: 2,
    webhook: { url, status: 'failed', attempts: 5, nextAt: 0, body: '{}' },
  });
  const delivery: Delivery = {
    id: deliveryId,
    accountId,
    creationId,
    event: 'creation.completed',
    url,
    attempt: 5,
    startedAt,
  };

  /** What was asked of the stores and of Step Functions, and the services that note it. */
  function noting(found: {
    readonly delivery?: Delivery;
    readonly creation?: typeof creation;
    readonly isReopened?: boolean;
  }) {
    const calls: unknown[][] = [];
    const ended: string[] = [];
    const note =
      <Answer>(name: string, answer: Answer) =>
      async (...given: readonly unknown[]): Promise<Answer> => {
        calls.push([name, ...given]);
        await new Promise(setImmediate);
        ended.push(name);
        return answer;
      };
    const given: RedeliveryServices = {
      clock: fakeClock(),
      schema,
      creations: stub<RedeliveryServices['creations']>({ read: note('read', found.creation) }),
      deliveries: stub<DeliveryStore>({
        find: note('find', found.delivery),
        reopen: note('reopen', found.isReopened ?? true),
      }),
      executions: stub<RedeliveryServices['executions']>({ start: note('start', 'started' as const) }),
    };
    return { given, calls, ended };
  }

  it('A redelivery opens a new round of attempts and starts the next execution of the creation', async () => {
    const { given, calls, ended } = noting({ delivery, creation });
    expect(await redeliver(account, deliveryId, given)).toEqual({ kind: 'started', creationId });
    expect(calls).toEqual([
      ['find', accountId, deliveryId],
      ['read', creationId],
      ['reopen', creation, now, undefined],
      ['start', expect.objectContaining({ id: creationId }), 3],
    ]);
    expect(ended).toEqual(['find', 'read', 'reopen', 'start']);
  });

  it('The redelivery of an attempt to an endpoint opens the round of this endpoint alone', async () => {
    const { given, calls } = noting({ delivery: { ...delivery, endpointId: 'we_AAAAAAAAAAAA' }, creation });
    await redeliver(account, deliveryId, given);
    expect(calls).toContainEqual(['reopen', creation, now, 'we_AAAAAAAAAAAA']);
  });

  const without = { kind: 'unknown_delivery' };
  it.each<[string, Parameters<typeof noting>[0], object, string[]]>([
    [
      'whose webhook is still pending',
      { delivery, creation, isReopened: false },
      { kind: 'still_pending' },
      ['find', 'read', 'reopen'],
    ],
    [
      'of a creation that a newer release has accepted',
      { delivery, creation: { ...creation, v: schema.newestKnown + 1 } },
      { kind: 'still_pending' },
      ['find', 'read'],
    ],
    ['that the log does not have', { creation }, without, ['find']],
    [
      'of a test, whose creation does not exist',
      { delivery: { ...delivery, creationId: nilId as CreationId } },
      without,
      ['find', 'read'],
    ],
    [
      'of a creation without a webhook',
      { delivery, creation: aCompletedCreation() },
      without,
      ['find', 'read'],
    ],
  ])('A redelivery starts nothing for a delivery %s', async (_which, found, outcome, asked) => {
    const { given, calls } = noting(found);
    expect(await redeliver(account, deliveryId, given)).toEqual(outcome);
    expect(calls.map(([name]) => name)).toEqual(asked);
  });
});
