/** The commands `creations`, `blocks`, `providers`, `webhooks endpoints` and `webhooks log` against the whole service. */
import type { Delivery } from '../../service/webhooks/delivery.ts';
import { describe, expect, it } from 'vitest';
import { fieldsOf } from '../../lab/vendors/fakes/fake-vendor.ts';
import { movementsOf, settled, submit } from '../whole/workflow/creations.ts';
import { useOperatedService } from './admin-run.ts';

const operated = useOperatedService();
const aboutCompletion: unknown = expect.stringContaining('creation.completed');

describe('a creation', () => {
  it('is shown with all fields of its request, and is found by the request id', async () => {
    const { client, service } = operated;
    const url = service.machine.inboxUrl;
    const given = { prompt: 'ein See', seed: 7, metadata: { order: 'A-1' } };
    const answer = await service.send('/images/generate', {
      key: client.key,
      body: { model: 'sandbox-sketch', ...given, webhook_url: url },
    });
    expect(answer.status).toBe(202);
    const id = String(fieldsOf(answer.body)['id']);
    await settled(service, id);
    const requestId = answer.headers.get('x-request-id') ?? '';
    const shown = await operated.run('creations', 'show', id);
    expect(shown).toMatchObject({
      id,
      request_id: requestId,
      status: 'completed',
      ...given,
      output_format: 'png',
      sources: [],
      webhook: { url, status: 'delivered', attempts: 1, body: aboutCompletion },
    });
    const find = ['creations', 'find', requestId];
    expect(await operated.run(...find, '--account', client.account.id)).toEqual(shown);
    const other = await service.client();
    expect(await operated.refused(...find, '--account', other.account.id)).toMatch(
      /^No creation of the last 7 days was made by the request /,
    );
    await service.machine.advance(86_460);
    expect(await operated.refused(...find, '--days', '1')).toMatch(/--days looks further back\.$/);
    expect(await operated.run(...find)).toEqual(shown);
    expect((await service.send(`/creations/${id}`, { key: client.key })).text).not.toContain(requestId);
  });
});

/** The service counts rejections per minute. A test that begins late in a minute would reach the next one. */
async function beginFreshMinute(): Promise<void> {
  const { machine } = operated.service;
  await machine.advance(60 - (Math.floor(machine.clock.now() / 1000) % 60));
}

describe('a blocked address', () => {
  it('is shown and unblocked, and the next wrong key does not block it again', async () => {
    await beginFreshMinute();
    const from = '127.0.0.9';
    const wrong = (): Promise<{ status: number }> =>
      operated.service.send('/models', { key: 'nonsense', from });
    for (let time = 0; time < 20; time += 1) await wrong();
    expect((await wrong()).status).toBe(429);
    expect(await operated.run('blocks', 'show', from)).toMatchObject({
      address: from,
      blocked: true,
      rejected_401: 20,
      closed_to_it: 'public API and portal API',
    });
    expect(await operated.run('blocks', 'lift', from)).toMatchObject({
      blocked: false,
      rejected_401: 0,
      lifted: true,
    });
    expect((await wrong()).status).toBe(401);
    expect((await wrong()).status).toBe(401);
  });

  it('is a whole /64 in IPv6', async () => {
    expect(await operated.run('blocks', 'show', '2001:db8:1:2::7')).toMatchObject({
      address: '2001:db8:1:2::/64',
      blocked: false,
    });
    expect(await operated.run('blocks', 'show', '2001:db8:1:2::/64')).toMatchObject({
      address: '2001:db8:1:2::/64',
    });
    expect(await operated.refused('blocks', 'show', 'example.com')).toBe(
      '"example.com" is no IP address, such as 203.0.113.7 or 2001:db8:1:2::3.',
    );
  });
});

describe('providers check without a provider that has a key', () => {
  it('ends with exit code 1 and says what to do', async () => {
    const { code, out } = await operated.admin('providers', 'check');
    expect([code, out]).toEqual([
      1,
      expect.stringContaining('No provider with a key is enabled: `providers set openai` sets one.'),
    ]);
    expect(await operated.refused('providers', 'check', 'openai')).toBe(
      'openai has no key: `providers set openai` sets it.',
    );
  });
});

describe('webhooks endpoints', () => {
  it('shows the endpoints of one account alone, and a notice can be tested at one', async () => {
    const { service, client } = operated;
    const other = await service.client();
    const body = { url: service.machine.inboxUrl, events: ['wallet.low'], enabled: false };
    const made = await service.send('/webhooks/endpoints', { key: other.key, body });
    const { id } = fieldsOf(made.body);
    expect(await operated.run('webhooks', 'endpoints', client.account.id)).toEqual({ data: [] });
    expect(await operated.run('webhooks', 'endpoints', other.account.id)).toMatchObject({
      data: [{ id, url: body.url, events: body.events, state: 'off', failing_since: null }],
    });
    await operated.run('webhooks', 'secret', other.account.id);
    const test = ['webhooks', 'test', other.account.id, '--url', body.url, '--event', 'wallet.low'];
    expect(await operated.run(...test)).toMatchObject({ event: 'wallet.low', outcome: 'delivered' });
  });
});

describe('webhooks log', () => {
  it('shows control characters of a receiver’s answer as escapes', async () => {
    const id = await submit(operated.service, operated.client.key, {
      prompt: 'a lake',
      webhook_url: operated.service.machine.inboxUrl,
    });
    const record = await settled(operated.service, id);
    expect(await movementsOf(operated.service, record)).toEqual(['charge']);
    const lastDelivery = async (): Promise<Delivery | undefined> =>
      (await operated.service.operator.deliveries.log(operated.client.account.id, 1))[0];
    // The row of the log gets its outcome after the creation is settled.
    await expect.poll(async () => (await lastDelivery())?.outcome).toBe('delivered');
    const delivery = (await lastDelivery()) as Delivery;
    const responseExcerpt = '\u001b[2J\u009bgone';
    await operated.service.operator.deliveries.record({ ...delivery, responseExcerpt });
    const { out } = await operated.admin('webhooks', 'log', operated.client.account.id);
    expect(out).toContain('\\u001b[2J\\u009bgone');
    const json = await operated.admin('--json', 'webhooks', 'log', operated.client.account.id);
    expect(json.out).not.toMatch(/[\u0080-\u009f]/);
    expect(JSON.parse(json.out)).toMatchObject({ data: [{ response: '\u001b[2J\u009bgone' }] });
  });
});
