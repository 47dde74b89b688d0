/** The part of the whole run that goes through the portal: people sign in and use every function of it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { createPeopleStore } from '../../service/portal/people-store.ts';
import type { AccountId } from '../../service/values/ids.ts';
import { asMicros } from '../../service/values/money.ts';
import { setNotices } from '../../service/notices/alert-settings.ts';
import { confirmMails, mailsAt } from '../fixtures/mails.ts';
import { png } from '../whole/image-origin.ts';
import { atStripe, openPayer } from '../whole/payer.ts';
import { invite, openBrowser, type Browser, type PortalAnswer } from '../fixtures/portal.ts';
import type { Client, TestService } from '../fixtures/service.ts';
import { settled } from '../whole/workflow/creations.ts';

/** A request of the portal that has to succeed. */
type Ask = (method: string, path: string, body?: unknown) => Promise<PortalAnswer>;

/** Somebody who is signed in. */
interface Visitor {
  readonly browser: Browser;
  readonly ask: Ask;
}

/**
 * Signs an owner and a developer in, and does everything that the portal can do with an account.
 * @param parked waits until the creation waits for its vendor
 */
export async function usePortal(
  service: TestService,
  source: string,
  parked: (id: string) => Promise<void>,
): Promise<void> {
  const client = await service.client();
  const owner = await signedIn(service, client.account.id, 'owner@example.com');
  await usePages(service);
  await useKeys(owner);
  await useWebhooks(service, owner);
  await usePeople(service, client, owner);
  await useGenerator(service, owner, source, parked);
  await useReads(owner);
  await useNotices(service);
  await usePayments(service);
  await useWrongSession(service, owner);
  await useOperator(service, owner);
  expect((await owner.browser.signOut()).pathname).toContain('/');
}

/** Days of usage are summed once they are over. */
export async function useSumsOfDays(service: TestService, client: Client): Promise<void> {
  const { ask } = await signedIn(service, client.account.id, 'sums@example.com');
  await ask('GET', '/usage');
  await ask('GET', '/usage.csv?by=key');
}

async function signedIn(service: TestService, account: AccountId, email: string): Promise<Visitor> {
  const people = createPeopleStore(service.operator.table);
  const expiresAt = service.machine.clock.now() + 86_400_000;
  await invite(people, account, email, 'owner', { expiresAt });
  await invite(people, 'SERVICE', email, 'operator', { expiresAt });
  const browser = openBrowser(service.machine.portalUrl);
  const landed = await browser.signIn(email);
  expect(landed.searchParams.get('error')).toBeNull();
  const ask: Ask = async (method, path, body) => {
    const answer = await browser.send(method, path, body);
    expect(answer.status, `${method} ${path}: ${answer.text}`).toBeLessThan(300);
    return answer;
  };
  return { browser, ask };
}

/** The first page publishes all of them. */
async function usePages({ machine }: TestService): Promise<void> {
  expect((await fetch(machine.portalUrl)).status).toBe(200);
}

async function useKeys({ ask }: Visitor): Promise<void> {
  const { record } = (await ask('POST', '/keys', { name: 'shop' })).body as {
    record: { id: string; version: string };
  };
  await ask('PATCH', `/keys/${record.id}`, { name: 'store', monthly_cap: 5, version: record.version });
  const rolled = await ask('POST', `/keys/${record.id}/roll`, { old_key_ends_in: '1h' });
  await ask('DELETE', `/keys/${(rolled.body as { record: { id: string } }).record.id}`);
}

async function useWebhooks({ machine }: TestService, { ask }: Visitor): Promise<void> {
  await ask('POST', '/webhooks/secret/reveal');
  await ask('POST', '/webhooks/secret/rotate', { sign_from: 'now' });
  await ask('POST', '/webhooks/test', { url: machine.inboxUrl });
  const { version } = (await ask('GET', '/alerts')).body as { version: string };
  const { month } = (await ask('GET', '/usage')).body as { month: { budget: { version: string } } };
  await ask('PUT', '/budget', { monthly_budget: 50, version: month.budget.version });
  await ask('PUT', '/alerts', { notice_url: machine.inboxUrl, low_balance: 26, version });
}

async function usePeople(service: TestService, client: Client, { ask }: Visitor): Promise<void> {
  await ask('POST', '/people', { email: 'dev@example.com', role: 'developer' });
  const developer = openBrowser(service.machine.portalUrl);
  await developer.signIn('dev@example.com');
  expect((await developer.send('PUT', '/emails', { notices: ['wallet.low'] })).status).toBe(200);
  const { people } = (await ask('GET', '/people')).body as {
    people: { id: string; email: string; version: string }[];
  };
  const found = people.find(({ email }) => email === 'dev@example.com');
  await ask('PATCH', `/people/${found?.id}`, { role: 'viewer', version: found?.version });
  await ask('POST', '/account', { account: client.account.id });
  await ask('POST', `/people/${found?.id}/end-sessions`);
  await ask('DELETE', `/people/${found?.id}`);
  const invited = await ask('POST', '/people', { email: 'late@example.com', role: 'viewer' });
  await ask('DELETE', `/invitations/${(invited.body as { id: string }).id}`);
}

async function useGenerator(
  service: TestService,
  { ask, browser }: Visitor,
  source: string,
  parked: (id: string) => Promise<void>,
): Promise<void> {
  const generate = async (body: object): Promise<string> => {
    const answer = await ask('POST', '/creations', { prompt: 'a lake', ...body });
    return (answer.body as { id: string }).id;
  };
  await ask('POST', '/quote', { model: 'sandbox-sketch', prompt: 'a lake' });
  const file = png(640, 480);
  const { image_url, upload_url, upload_headers } = (
    await ask('POST', '/uploads', { content_type: 'image/png', bytes: file.length })
  ).body as { image_url: string; upload_url: string; upload_headers: Record<string, string> };
  expect((await fetch(upload_url, { method: 'PUT', body: file, headers: upload_headers })).status).toBe(200);
  const webhook_url = service.machine.inboxUrl;
  const id = await generate({ model: 'sandbox-pro', image_urls: [image_url, source], webhook_url });
  await settled(service, id);
  await ask('POST', `/creations/${id}/redeliver`);
  // A repetition reads the creation of the first request.
  const repeated = { model: 'sandbox-sketch', prompt: 'a lake' };
  for (const status of [202, 202]) {
    const headers = { 'idempotency-key': 'pressed twice' };
    const answer = await browser.send('POST', '/creations', repeated, headers);
    expect(answer.status, answer.text).toBe(status);
  }
  const waiting = await generate({ model: 'flux-2-pro', webhook_url });
  await parked(waiting);
  await ask('POST', `/creations/${waiting}/cancel`);
  await settled(service, waiting);
  // A webhook that went on to the callback machine is sent again by the callback machine.
  await ask('POST', `/creations/${waiting}/redeliver`);
  await ask('POST', '/deliveries/redeliver', { since: '2026-01-01T00:00:00Z' });
  await ask('GET', `/creations/${id}`);
}

async function useReads({ ask }: Visitor): Promise<void> {
  for (const path of ['me', 'home', 'account', 'keys', 'models', 'creations', 'webhooks', 'ledger', 'audit'])
    await ask('GET', `/${path}`);
  const { data } = (await ask('GET', '/deliveries')).body as { data: { id: string }[] };
  await ask('GET', `/deliveries/${encodeURIComponent(data[0]?.id ?? '')}`);
}

/** A request that is refused for its balance: the portal's own function starts the notice, which is also an e-mail. */
async function useNotices(service: TestService): Promise<void> {
  const { account } = await service.client({ balance: '0.001' });
  await setNotices(account.id, { noticeUrl: service.machine.inboxUrl }, service.operator);
  const { browser } = await signedIn(service, account.id, 'poor@example.com');
  expect((await browser.send('PUT', '/emails', { notices: ['wallet.empty'] })).status).toBe(200);
  await confirmMails(service.machine.localUrl);
  const body = { model: 'sandbox-sketch', prompt: 'a lake' };
  expect((await browser.send('POST', '/creations', body)).status).toBe(402);
  while (!(await mailsAt(service.machine.localUrl)).some(({ subject }) => subject.includes('is used up')))
    await sleep(50);
  expect((await browser.send('PUT', '/emails', { notices: [] })).status).toBe(200);
}

/** Each of the three functions of payments credits a payment, and sends its notice. */
async function usePayments(service: TestService): Promise<void> {
  const { machine, operator } = service;
  const { account, key } = await service.client({ balance: '1' });
  await setNotices(account.id, { noticeUrl: machine.inboxUrl }, operator);
  const payer = await openPayer(service, account.id, 'payer@example.com');
  const byEvent = await payer.begin(20);
  await payer.pay(byEvent);
  await payer.credited(21);
  // Without events the page of the wallet asks, or the worker finds out.
  await atStripe(service, { action: 'events', how: 'drop', type: '', times: null });
  const byPage = await payer.begin(5, true);
  await payer.pay(byPage);
  expect((await payer.shown(byPage)).state).toBe('succeeded');
  const { version } = (await payer.ask('GET', '/auto-top-up')) as { version: number };
  const choice = { is_on: true, threshold: 30, amount: 40, monthly_cap: 100 };
  await payer.ask('PUT', '/auto-top-up', { ...choice, version });
  expect((await service.send('/balance', { key })).text).toContain('"auto_top_up":"on"');
  await machine.advance(120);
  await payer.credited(66);
  await payer.ask('GET', '/payments');
  const { ask } = await signedIn(service, account.id, 'cashier@example.com');
  await ask('GET', '/operator/payments');
  await ask('GET', `/operator/accounts/${account.id}/payments`);
}

/** A cookie that nobody was given counts against the address of the visitor. */
async function useWrongSession({ machine }: TestService, { browser }: Visitor): Promise<void> {
  const stranger = openBrowser(machine.portalUrl);
  for (const [name, value] of browser.cookies)
    stranger.cookies.set(name, value.replace(/^[\w-]{43}\./, `${'A'.repeat(43)}.`));
  expect((await stranger.send('GET', '/me')).status).toBe(401);
}

/** What the people of the operator do. The wallet is low once the credit line is gone, so a notice is started. */
async function useOperator(service: TestService, { ask }: Visitor): Promise<void> {
  const opened = await ask('POST', '/operator/accounts', { name: 'new', balance: 25, credit_line: 10 });
  const { id } = opened.body as { id: AccountId };
  const account = await service.account(id);
  const [noticeUrl, lowBalanceMicros] = [service.machine.inboxUrl, asMicros(30_000_000)];
  await setNotices(account.id, { noticeUrl, lowBalanceMicros }, service.operator);
  await ask('PATCH', `/operator/accounts/${id}`, { name: 'newer', credit_line: 0 });
  await ask('POST', `/operator/accounts/${id}/top-up`, { amount: 1, reference: 'first' });
  await ask('POST', `/operator/accounts/${id}/people`, { email: 'new@example.com', role: 'owner' });
  await ask('PUT', '/operator/pauses', { provider: 'recraft', paused: true });
  await ask('PUT', '/operator/pauses', { provider: 'recraft', paused: false });
  const tabs = ['creations', 'ledger', 'keys', 'people', 'deliveries'].map((tab) => `accounts/${id}/${tab}`);
  await ask('GET', '/operator/search?q=new@example.com');
  for (const path of ['service', 'accounts', `accounts/${id}`, ...tabs, 'webhooks', 'providers', 'margin'])
    await ask('GET', `/operator/${path}`);
}
