/**
 * Notices: one for each crossed threshold, and how they are sent. The file is long because its tests share one
 * service and one receiver.
 */
import { createHmac } from 'node:crypto';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { createAccount } from '../../../admin/commands/accounts.ts';
import { issueKey, type KeyLimitOptions } from '../../../admin/commands/keys.ts';
import { issueSecret } from '../../../admin/commands/webhooks.ts';
import { createAccountSettings } from '../../../service/accounts/account-settings-store.ts';
import { setNotices } from '../../../service/notices/alert-settings.ts';
import { asMicros, parseUsd } from '../../../service/values/money.ts';
import { standardSignature } from '../../../service/webhooks/webhook.ts';
import { adminJson } from '../../admin/admin-run.ts';
import { type Answer, type Client, sharedTestService } from '../../fixtures/service.ts';
import { jsonObject } from '../../fixtures/values.ts';
import { recordWhen, settled, submit } from './creations.ts';
import { type Arrival, startReceiver } from './receiver.ts';

const [service, receiver] = await Promise.all([sharedTestService(), startReceiver()]);
afterEach(() => service.machine.faults.clear());
afterAll(async () => {
  expect(await service.audit()).toEqual([]);
  await receiver.close();
  await service.end();
});

interface Notified extends Client {
  readonly hook: string;
}

let hooks = 0;
/** A client with an address for notices. */
async function notified({
  balance = '25',
  low,
  statuses = [200],
  ...more
}: {
  balance?: string;
  low?: string;
  statuses?: readonly number[];
} & KeyLimitOptions = {}): Promise<Notified> {
  const client = await service.client({ balance, postRate: '1000', ...more });
  const hook = `notices-${(hooks += 1)}`;
  const lowBalanceMicros = low === undefined ? null : (parseUsd(low) ?? null);
  const noticeUrl = receiver.hook(hook, ...statuses);
  await setNotices(client.account.id, { noticeUrl, lowBalanceMicros }, service.operator);
  return { ...client, hook };
}

const bodyOf = ({ raw }: Arrival): Record<string, unknown> => jsonObject(String(raw));
const firstAt = (hook: string): Record<string, unknown> => bodyOf(receiver.arrivals(hook)[0] as Arrival);
const typesAt = (hook: string): unknown[] =>
  receiver.arrivals(hook).map((arrival) => bodyOf(arrival)['notice']);

/** Renders one picture, and waits until its execution has ended. */
async function render({ key }: Client, prompt = 'a lake'): Promise<void> {
  const id = await submit(service, key, { prompt });
  await settled(service, id);
  await expect
    .poll(() => service.machine.executions.list().find(({ name }) => name === id)?.status, { interval: 20 })
    .toBe('SUCCEEDED');
}

const refusedBy = async ({ key }: Client): Promise<Answer> =>
  service.send('/images/generate', { key, body: { model: 'sandbox-sketch', prompt: 'a lake' } });

async function refuseThrice(client: Client): Promise<void> {
  for (let run = 0; run < 3; run += 1) expect((await refusedBy(client)).status).toBe(402);
}

/** Five minutes pass, and the reconciler checks everything that was left. */
async function later(): Promise<void> {
  service.jump(240);
  await service.machine.advance(60);
}

/** Waits for the notices that are under way. */
const noticesAt = async (hook: string, count: number): Promise<unknown[]> => {
  await receiver.until(hook, count);
  return typesAt(hook);
};

describe('a notice', () => {
  it('A notice is signed like a webhook, and its headers differ from those of the webhook of a creation', async () => {
    const client = await notified({ balance: '1', low: '1' });
    await render(client);
    await noticesAt(client.hook, 1);
    const [arrival] = receiver.arrivals(client.hook);
    if (!arrival) throw new Error('no notice came');
    const { headers, raw } = arrival;
    const body = bodyOf(arrival);
    const signed = Buffer.concat([Buffer.from(`${headers['x-timestamp'] ?? ''}.`), raw]);
    expect(headers['x-webhook-signature-256']).toBe(
      `sha256=${createHmac('sha256', client.webhookSecret).update(signed).digest('hex')}`,
    );
    expect(headers['webhook-signature']).toBe(
      standardSignature(
        client.webhookSecret,
        String(body['id']),
        headers['webhook-timestamp'] ?? '',
        String(raw),
      ),
    );
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': 'Darkroom-Webhooks/1',
      'x-darkroom-notice': 'wallet.low',
      'x-webhook-attempt': '1',
      'webhook-id': body['id'],
    });
    expect(headers).not.toHaveProperty('x-webhook-event');
    expect(headers).not.toHaveProperty('x-webhook-signature-256-previous');
    expect(body).toEqual({
      notice: 'wallet.low',
      id: expect.stringMatching(/^ntc_[0-9a-f]{8}-[0-9a-f]{4}-7/) as string,
      created_at: expect.stringMatching(/Z$/) as string,
      account: { available: 0.99, low_balance: 1, currency: 'USD' },
    });
  });

  it('A notice whose receiver fails is sent at 0, 60, 180, 420 and 900 s, the same bytes each time, and then no more', async () => {
    const client = await notified({ balance: '1', low: '1', statuses: [500] });
    service.machine.clock.freeze();
    await render(client);
    await noticesAt(client.hook, 1);
    await service.machine.advance(1_000);
    const arrivals = receiver.arrivals(client.hook);
    const times = arrivals.map(({ headers }) => Number(headers['x-timestamp']));
    expect(times.slice(1).map((time, index) => time - (times[index] ?? 0))).toEqual([60, 120, 240, 480]);
    expect(new Set(arrivals.map(({ raw }) => raw.toString('base64')))).toHaveLength(1);
    expect(new Set(arrivals.map(({ headers }) => headers['x-webhook-delivery-id']))).toHaveLength(5);
    const log = await adminJson(service.folder, 'webhooks', 'log', client.account.id);
    expect(log['data']).toMatchObject(
      [5, 4, 3, 2, 1].map((attempt) => ({
        attempt,
        event: 'wallet.low',
        creation: null,
        notice: bodyOf(arrivals[0] as Arrival)['id'],
        outcome: 'failed',
      })),
    );
  });

  it('The notice of an account without a secret is skipped for good', async () => {
    const { operator, machine } = service;
    const account = await createAccount(operator, { name: 'no secret', balance: '1' });
    const { key } = await issueKey(operator, account, { name: 'test' });
    const noticeUrl = receiver.hook('notices-unsigned', 200);
    await setNotices(account.id, { noticeUrl, lowBalanceMicros: asMicros(1_000_000) }, operator);
    await settled(service, await submit(service, key, { prompt: 'a lake' }));
    await expect.poll(async () => (await service.account(account.id)).toldLow?.id).toBeDefined();
    const { toldLow } = await service.account(account.id);
    if (!toldLow) throw new Error('no notice was sent');
    const status = async (): Promise<unknown> => (await operator.notices.read(toldLow.id))?.webhook.status;
    await expect.poll(status).toBe('skipped');
    await issueSecret(operator, account);
    service.jump(3_601);
    await machine.advance(1);
    expect(receiver.arrivals('notices-unsigned')).toEqual([]);
    expect(await status()).toBe('skipped');
  });

  it('A notice whose start was lost is sent by the reconciler', async () => {
    const client = await notified({ balance: '1', low: '1' });
    service.machine.faults.set({
      call: 'states:StartExecution',
      error: 'Throttling',
      caller: 'RenderImageSmall',
      every: 1,
    });
    const id = await submit(service, client.key, { prompt: 'a lake' });
    await settled(service, id);
    await expect.poll(async () => (await service.account(client.account.id)).toldLow?.id).toBeDefined();
    await expect
      .poll(() => service.machine.executions.list().find(({ name }) => name === id)?.status)
      .toBe('SUCCEEDED');
    service.machine.faults.clear();
    expect(typesAt(client.hook)).toEqual([]);
    await service.machine.advance(240);
    expect(await noticesAt(client.hook, 1)).toEqual(['wallet.low']);
    service.jump(3_601);
    await service.machine.advance(1);
    expect(typesAt(client.hook)).toEqual(['wallet.low']);
  });
});

describe('the wallet of an account', () => {
  it('The account is notified once that its wallet is low, and again after it was topped up', async () => {
    const client = await notified({ balance: '1.02', low: '1' });
    const topUp = (amount: string): Promise<unknown> => {
      const options = ['--amount', amount, '--reference', amount];
      return adminJson(service.folder, 'wallet', 'top-up', client.account.id, ...options);
    };
    for (let run = 0; run < 4; run += 1) await render(client);
    expect(await noticesAt(client.hook, 1)).toEqual(['wallet.low']);
    expect(firstAt(client.hook)['account']).toMatchObject({
      available: 0.99,
    });
    await topUp('0.01');
    await render(client);
    expect(typesAt(client.hook)).toEqual(['wallet.low']);
    await topUp('0.02');
    await render(client);
    expect(await noticesAt(client.hook, 2)).toEqual(['wallet.low', 'wallet.low']);
    await later();
    expect(typesAt(client.hook)).toHaveLength(2);
  });

  it('A creation that is refunded before the check sends no notice', async () => {
    const client = await notified({ balance: '1', low: '1' });
    await render(client, 'a lake [sandbox:fail]');
    expect((await service.account(client.account.id)).toldLow).toBeUndefined();
    await later();
    expect(typesAt(client.hook)).toEqual([]);
  });

  it('A refund that brings the wallet back takes the mark back', async () => {
    const client = await notified({ balance: '1.01', low: '1' });
    const late = await submit(service, client.key, { prompt: 'a lake [sandbox:delay=4s] [sandbox:fail]' });
    await render(client);
    expect(await noticesAt(client.hook, 1)).toEqual(['wallet.low']);
    await settled(service, late);
    await expect.poll(async () => (await service.account(client.account.id)).toldLow).toBeUndefined();
    await render(client);
    expect(await noticesAt(client.hook, 2)).toEqual(['wallet.low', 'wallet.low']);
  });

  it('An empty wallet is notified with the last creation, and the refusals after it send no notice', async () => {
    const client = await notified({ balance: '0.01' });
    await render(client);
    expect(await noticesAt(client.hook, 1)).toEqual(['wallet.empty']);
    await refuseThrice(client);
    await later();
    expect(typesAt(client.hook)).toEqual(['wallet.empty']);
  });

  it('The first request that the balance refuses sends wallet.empty, with what the request needed', async () => {
    const client = await notified({ balance: '0.004' });
    await refuseThrice(client);
    expect(await noticesAt(client.hook, 1)).toEqual(['wallet.empty']);
    expect(firstAt(client.hook)['account']).toEqual({
      available: 0.004,
      low_balance: null,
      currency: 'USD',
      required: 0.01,
    });
    await later();
    expect(typesAt(client.hook)).toEqual(['wallet.empty']);
  });

  it('Twenty creations at once send one notice for each threshold of the wallet and of the cap', async () => {
    const client = await notified({ balance: '0.5', low: '0.44', monthlyCap: '0.1' });
    const answers = await Promise.all(Array.from({ length: 20 }, () => refusedBy(client)));
    const accepted = answers.filter(({ status }) => status === 202);
    expect(accepted).toHaveLength(10);
    for (const { body } of accepted) await settled(service, (body as { id: string }).id);
    await later();
    const types = typesAt(client.hook);
    expect(types.filter((type) => type === 'wallet.low')).toHaveLength(1);
    expect(types).not.toContain('wallet.empty');
    const levels = receiver
      .arrivals(client.hook)
      .map(bodyOf)
      .filter(({ notice }) => notice === 'key.cap_reached')
      .map(({ key }) => (key as { level: number }).level);
    expect(levels).toContain(100);
    expect(new Set(levels)).toHaveLength(levels.length);
  });

  it('A wallet below a new threshold is notified within a minute', async () => {
    const client = await notified();
    await setNotices(client.account.id, { lowBalanceMicros: asMicros(30_000_000) }, service.operator);
    await service.machine.advance(60);
    expect(await noticesAt(client.hook, 1)).toEqual(['wallet.low']);
  });
});

describe('the monthly cap of a key', () => {
  it('A notice key.cap_reached is sent at 80 and at 100 percent, once each, and again when the cap changes', async () => {
    const client = await notified({ monthlyCap: '0.05' });
    const levels = (): unknown[] =>
      receiver.arrivals(client.hook).map((arrival) => (bodyOf(arrival)['key'] as { level: number }).level);
    for (let run = 0; run < 3; run += 1) await render(client);
    expect(levels()).toEqual([]);
    await render(client);
    await noticesAt(client.hook, 1);
    expect(levels()).toEqual([80]);
    expect(firstAt(client.hook)).toMatchObject({
      notice: 'key.cap_reached',
      account: { available: 24.96 },
      key: {
        id: client.record.id,
        name: 'test',
        cap: 'monthly',
        period: new Date(service.machine.clock.now()).toISOString().slice(0, 7),
        level: 80,
        limit: 0.05,
        spent: 0.04,
        resets_at: expect.stringMatching(/-01T00:00:00.000Z$/) as string,
      },
    });
    await render(client);
    await noticesAt(client.hook, 2);
    await refuseThrice(client);
    await service.operator.accounts.changeKey(client.account.id, client.record.id, {
      monthlyCapMicros: asMicros(60_000),
    });
    await render(client);
    await noticesAt(client.hook, 3);
    await later();
    expect(levels()).toEqual([80, 100, 100]);
  });

  it('The budget of a month is notified at 80 and at 100 percent, once each, for the spend of all keys', async () => {
    const client = await notified();
    const other = await issueKey(service.operator, client.account, { name: 'other' });
    const settings = createAccountSettings(service.operator.table);
    expect(await settings.changeBudget(client.account, asMicros(50_000))).toBe(true);
    for (const key of [client.key, client.key, other.key]) await render({ ...client, key });
    await later();
    expect(typesAt(client.hook)).toEqual([]);
    await render({ ...client, key: other.key });
    expect(await noticesAt(client.hook, 1)).toEqual(['budget.reached']);
    for (let count = 0; count < 2; count += 1) await render(client);
    await noticesAt(client.hook, 2);
    await later();
    expect(receiver.arrivals(client.hook).map((arrival) => bodyOf(arrival)['budget'])).toMatchObject([
      { level: 80, limit: 0.05, spent: 0.04 },
      { level: 100, limit: 0.05, spent: 0.05 },
    ]);
  });

  it('A request that the cap refuses notifies 100 percent before the cap is spent', async () => {
    const client = await notified({ monthlyCap: '0.005' });
    await refuseThrice(client);
    expect(await noticesAt(client.hook, 1)).toEqual(['key.cap_reached']);
    expect(firstAt(client.hook)['key']).toMatchObject({
      level: 100,
      spent: 0,
    });
    await later();
    expect(typesAt(client.hook)).toHaveLength(1);
  });
});

describe('the other caps of a key', () => {
  const capsAt = (hook: string): unknown[] =>
    receiver
      .arrivals(hook)
      .map((arrival) => bodyOf(arrival)['key'] as { cap: string; level: number; user?: string })
      .map(({ cap, level, user }) => [cap, level, ...(user === undefined ? [] : [user])])
      .sort();

  it('One creation notifies the daily and the total cap, and later creations and refusals notify neither again', async () => {
    const client = await notified({ dailyCap: '0.01', totalCap: '0.0125' });
    await render(client);
    await noticesAt(client.hook, 2);
    for (let run = 0; run < 2; run += 1) expect((await refusedBy(client)).status).toBe(402);
    await later();
    expect(capsAt(client.hook)).toEqual([
      ['daily', 100],
      ['total', 80],
    ]);
  });

  it('The cap of a user is notified with the user, at 80 percent and when it refuses a request', async () => {
    const client = await notified({ perUserMonthlyCap: '0.0125' });
    const renderFor = async (user: string): Promise<void> => {
      await settled(service, await submit(service, client.key, { prompt: 'a lake', user }));
    };
    await renderFor('user 1');
    expect(await noticesAt(client.hook, 1)).toEqual(['key.cap_reached']);
    const body = { model: 'sandbox-sketch', prompt: 'a lake', user: 'user 1' };
    for (let run = 0; run < 3; run += 1) {
      const { status } = await service.send('/images/generate', { key: client.key, body });
      expect(status).toBe(402);
    }
    await noticesAt(client.hook, 2);
    await later();
    expect(capsAt(client.hook)).toEqual([
      ['user', 100, 'user 1'],
      ['user', 80, 'user 1'],
    ]);
  });
});

describe('webhooks that fail', () => {
  it('Ten failed attempts in a row send one notice, and another one after a webhook was delivered', async () => {
    const client = await notified();
    const { deliveries } = service.operator;
    const send = (url: string): Promise<string> =>
      submit(service, client.key, { prompt: 'a lake', webhook_url: url });
    // One webhook after the other, so that no two attempts fail at the same time.
    const failFive = async (): Promise<void> => {
      const id = await send(receiver.hook(`broken-${client.hook}`, 500));
      await recordWhen(service, id, ({ completedAt }) => completedAt !== undefined);
      await service.machine.advance(910);
    };
    await failFive();
    expect(typesAt(client.hook)).toEqual([]);
    await failFive();
    expect(await noticesAt(client.hook, 1)).toEqual(['webhook.failing']);
    expect(firstAt(client.hook)['webhooks']).toEqual({ failed_attempts: 10 });
    await settled(service, await send(receiver.hook(`fine-${client.hook}`, 200)));
    await expect.poll(async () => (await service.account(client.account.id)).webhookFailures).toBeUndefined();
    expect(typesAt(client.hook)).toEqual(['webhook.failing']);
    for (let attempt = 0; attempt < 5; attempt += 1) await deliveries.countFailure(client.account.id);
    await failFive();
    expect(await noticesAt(client.hook, 2)).toEqual(['webhook.failing', 'webhook.failing']);
  });
});

describe('the address for notices', () => {
  it('The address and the threshold are set, shown and removed by the command', async () => {
    const client = await service.client();
    const set = (...flags: string[]): Promise<Record<string, unknown>> =>
      adminJson(service.folder, 'accounts', 'set', client.account.id, ...flags);
    const url = receiver.hook('notices-set', 200);
    expect(await set('--notice-url', url, '--low-balance', '5')).toMatchObject({
      notice_url: url,
      low_balance: 5,
    });
    expect(await set('--low-balance', '')).toMatchObject({ notice_url: url, low_balance: null });
    expect(await set('--notice-url', '')).toMatchObject({ notice_url: null, low_balance: null });
  });

  it('An account without an address gets no notice, and marks nothing', async () => {
    const client = await service.client({ balance: '0.01' });
    await render(client);
    expect((await refusedBy(client)).status).toBe(402);
    expect(await service.account(client.account.id)).not.toHaveProperty('toldEmpty');
  });
});
