/**
 * The webhook_url of a submission by the rules of a deployed service. hostile-address.test.ts has more
 * addresses.
 */
import { afterAll, describe, expect, it } from 'vitest';
import { refusal } from '../admin/admin-run.ts';
import { type Answer, startTestService } from '../fixtures/service.ts';
import { everyAnswer } from './every-answer.ts';
import { fieldsOf } from './refusal.ts';

const service = await startTestService({ strictOutbound: true });
const client = await service.client({ postRate: '1000' });
afterAll(() => service.end());

/** The answer of a quote, which applies the same rules as far as it can without the network. */
function quote(body: object): Promise<Answer> {
  return service.send('/images/quote', {
    key: client.key,
    body: { model: 'sandbox-pro', prompt: 'a lighthouse', ...body },
  });
}

function submit(url: unknown): Promise<Answer> {
  return service.send('/images/generate', {
    key: client.key,
    body: { model: 'sandbox-sketch', prompt: 'a lighthouse', webhook_url: url },
  });
}

describe('a webhook_url that is refused fails the request with 400 ERR_INVALID_REQUEST, and nothing is charged', () => {
  it.each<[string, string, string]>([
    ['http', 'http://93.184.215.14/hook', 'refused_target'],
    ['port 80', 'https://93.184.215.14:80/hook', 'refused_target'],
    ['port 1023', 'https://93.184.215.14:1023/hook', 'refused_target'],
    ['userinfo', 'https://user:secret@93.184.215.14/hook', 'refused_target'],
    ['this machine', 'https://127.0.0.1/hook', 'refused_target'],
    ['this machine by name', 'https://localhost/hook', 'refused_target'],
    ['the metadata service', 'https://169.254.169.254/', 'refused_target'],
    ['a private network', 'https://192.168.1.1/', 'refused_target'],
    ['private IPv6', 'https://[fd00::1]/', 'refused_target'],
    ['a name that does not resolve', 'https://nowhere.invalid/', 'refused_target'],
    ['no address', 'hooks', 'refused_target'],
    ['2049 characters', `https://93.184.215.14/${'a'.repeat(2049 - 22)}`, 'too_long'],
  ])('The webhook_url is refused and nothing is charged: %s', async (_what, url, code) => {
    const answer = await submit(url);
    expect([answer.status, ...fieldsOf(answer)]).toEqual([400, `webhook_url: ${code}`]);
    expect((await service.account(client.account.id)).availableMicros).toBe(25_000_000);
  });
});

describe('the addresses of a quote, checked as far as this needs no network', () => {
  it('A name that does not resolve is accepted, because a quote resolves no names', async () => {
    expect((await quote({ webhook_url: 'https://nowhere.invalid/' })).status).toBe(200);
  });

  it('The address is refused before the model and the means are checked', async () => {
    const answer = await submitFor('no-such-model', 'http://example.com/hook');
    expect([answer.status, ...fieldsOf(answer)]).toEqual([400, 'webhook_url: refused_target']);
  });

  function submitFor(model: string, webhook: string): Promise<Answer> {
    return service.send('/images/generate', {
      key: client.key,
      body: { model, prompt: 'a lighthouse', webhook_url: webhook },
    });
  }
});

describe('a webhook_url that may be used', () => {
  it.each([
    ['port 443', 'https://93.184.215.14/hook?order=7'],
    ['port 1024', 'https://93.184.215.14:1024/'],
    ['2048 characters', `https://93.184.215.14/${'a'.repeat(2048 - 22)}`],
  ])('The webhook_url is accepted and shown as pending: %s', async (_what, url) => {
    // No execution starts, so no webhook leaves this machine.
    service.machine.faults.set({ call: 'states:StartExecution', error: 'Throttling', every: 1 });
    const answer = await submit(url);
    service.machine.faults.clear();
    expect(answer).toMatchObject({ status: 202, body: { webhook: { url, status: 'pending', attempts: 0 } } });
  });
});

everyAnswer(() => service);

describe('the address of an account for notices', () => {
  it.each([
    ['http', 'http://93.184.215.14/hook'],
    ['a private network', 'https://192.168.1.1/'],
    ['a name that does not resolve', 'https://nowhere.invalid/'],
  ])('The address for notices is refused by the rules of a webhook_url: %s', async (_what, url) => {
    const { id } = client.account;
    expect(await refusal(service.folder, 'accounts', 'set', id, '--notice-url', url)).toContain(
      '--notice-url: must',
    );
    expect(await service.account(id)).not.toHaveProperty('noticeUrl');
  });
});
