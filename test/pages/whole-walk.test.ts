/**
 * One person and the whole portal, in a real browser, by the keyboard alone: from the invitation to the month's
 * ledger. Each step goes on where the step before ended.
 */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import { createAccount } from '../../admin/commands/accounts.ts';
import { runAdmin } from '../../admin/program.ts';
import { noticeTypes } from '../../service/notices/notice.ts';
import { fromUsd } from '../../service/values/money.ts';
import { startBrowser } from '../fixtures/browser.ts';
import { startTestService } from '../fixtures/service.ts';
import { idOf } from '../fixtures/values.ts';
import { keyboardOf } from './keyboard.ts';
import { startReceiver } from './receiver.ts';

const email = 'owner@walk.test';

/** What the browser complained about: errors of scripts, and what the content security policy refused. */
const complaints: string[] = [];
/** What the person was shown and must be nowhere else: keys, and secrets of webhooks. */
const secrets: string[] = [];

const [service, browser] = await Promise.all([startTestService({ takesPayments: true }), startBrowser()]);
const receiver = await startReceiver(() => service.machine.clock.now());
/** Another receiver, which is no address of a request. */
const endpoint = await startReceiver(() => service.machine.clock.now());
const account = await createAccount(service.operator, { name: 'Walk', balance: '25' });
const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, acceptDownloads: true });
const page = await context.newPage();
page.on('pageerror', (error) => complaints.push(error.message));
page.on('console', (message) => {
  if (message.type() === 'error') complaints.push(message.text());
});
const keyboard = keyboardOf(page);
afterAll(async () => {
  await browser.close();
  await Promise.all([receiver.end(), endpoint.end()]);
  await service.end();
});

/** Opens a page by its link in the navigation. */
async function open(name: string): Promise<void> {
  await keyboard.press(new RegExp(`^${name}$`));
  await heading(name);
}

async function heading(name: string): Promise<void> {
  await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
}

async function sees(text: string | RegExp): Promise<void> {
  await page.getByRole('main').getByText(text).filter({ visible: true }).first().waitFor();
}

/** Chooses the person at the issuer. */
async function chooseMe(): Promise<void> {
  await page.waitForURL(/_local\/issuer/);
  await keyboard.press(new RegExp(email));
}

it('An operator invites a person, who signs in', async () => {
  const said = { print: () => undefined, complain: () => undefined };
  const invite = ['people', 'invite', account.id, '--email', email, '--role', 'owner'];
  expect(await runAdmin(['--data', service.folder, ...invite], said)).toBe(0);
  await page.goto(service.machine.portalUrl);
  await keyboard.press(/^Sign in/);
  await chooseMe();
  await heading('Home');
  await sees('Three steps to your first image');
});

it('The person creates a key, and the shown curl works as it stands', async () => {
  await open('Keys');
  await keyboard.press(/^Create a key$/);
  await keyboard.write(/^Name/, 'walk');
  await keyboard.press(/^Create the key$/);
  await page.getByText('Store the key now.').waitFor();
  const dialog = page.getByRole('dialog');
  const key = /dk_live_\w{40}/.exec(await dialog.innerText())?.[0] ?? '';
  secrets.push(key);
  const command = await dialog.getByRole('region', { name: 'the request in curl' }).innerText();
  await keyboard.tick(/I have stored it/);
  await keyboard.press(/^Done$/);
  await dialog.waitFor({ state: 'detached' });
  const { stdout } = await promisify(execFile)('sh', ['-c', command], { cwd: service.folder });
  const { id } = JSON.parse(stdout) as { id: string };
  expect((await readFile(join(service.folder, 'image.png'))).subarray(1, 4).toString()).toBe('PNG');
  expect(await service.ended(id)).toMatchObject({ status: 'completed', accountId: account.id });
});

it('The person sees the timeline of the creation', async () => {
  await open('Creations');
  await keyboard.press(/a lighthouse in a storm/);
  await keyboard.press(/^Details$/);
  await heading('Creation');
  await sees('Timeline');
  for (const step of [/accepted/i, /charged/i, /completed/i]) await sees(step);
});

it('The person opens the secret, and the receiver verifies a test delivery', async () => {
  await open('Webhooks');
  await keyboard.press(/^Open the signing secret$/);
  const secret = await shownSecret();
  receiver.secrets.push(secret);
  endpoint.secrets.push(secret);
  await keyboard.write(/^Address of your receiver/, receiver.url);
  await keyboard.press(/^Send a test delivery$/);
  await sees('delivered');
  expect(receiver.received).toEqual(['creation.completed']);
  await open('Deliveries');
  await sees('test');
});

/** The secret in the dialog, which the person closes. */
async function shownSecret(): Promise<string> {
  const dialog = page.getByRole('dialog');
  const code = dialog.getByText(/^whsec_/).first();
  await code.waitFor();
  const secret = (await code.innerText()).trim();
  secrets.push(secret);
  await keyboard.press(/^(Done|Close)$/);
  await dialog.waitFor({ state: 'detached' });
  return secret;
}

it('The person adds an endpoint, and sends the sample of a notice to it', async () => {
  // A test delivery is possible once in 30 s.
  await service.machine.advance(31);
  await open('Webhooks');
  await keyboard.press(/^Add an endpoint$/);
  await keyboard.write(/^Address$/, endpoint.url);
  await keyboard.press(/^Add an endpoint$/);
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  // Only now can the person choose the endpoint.
  await sees('0 of 0 delivered');
  await keyboard.reach(/^Event$/);
  await page.keyboard.press('End');
  await keyboard.reach(/^Send it to$/);
  await page.keyboard.press('ArrowDown');
  await keyboard.press(/^Send a test delivery$/);
  await sees('delivered 204');
  expect(endpoint.received).toEqual([noticeTypes.at(-1)]);
});

/** Renders a picture whose request names no address, to the end of its webhook. */
async function paint(): Promise<void> {
  const [key = ''] = secrets;
  const accepted = await service.send('/images/generate', {
    key,
    body: { model: 'sandbox-sketch', prompt: 'a painted endpoint' },
  });
  const id = idOf(accepted);
  await service.ended(id);
  await expect
    .poll(async () => (await service.operator.creations.read(id))?.webhook?.status)
    .not.toBe('pending');
}

it('The endpoint gets the event of a picture, and the person sees its delivery', async () => {
  await paint();
  expect(endpoint.received.slice(1)).toEqual(['creation.completed']);
  await open('Deliveries');
  await keyboard.press(new RegExp(`^${new URL(endpoint.url).host}$`));
  await sees('To the endpoint');
  // The test and the delivery.
  await expect.poll(() => page.getByRole('cell', { name: 'delivered 204' }).count()).toBe(2);
});

it('The endpoint gets nothing while it is switched off, and after the person has deleted it', async () => {
  await open('Webhooks');
  await sees('1 of 1 delivered');
  await keyboard.press(/^Switch off /);
  await keyboard.reach(/^Switch on /);
  await paint();
  await keyboard.press(/^Delete /);
  await keyboard.press(/^Delete the endpoint$/);
  await sees('No endpoint yet');
  await paint();
  await service.machine.advance(910);
  expect(endpoint.received).toHaveLength(2);
});

it('A request is refused, and the person finds it with its reason and sends it again by the shown curl', async () => {
  const [key = ''] = secrets;
  const body = { model: 'sandbox-sketch', prompt: "a painter's lake", resolution: '8K' };
  expect((await service.send('/images/generate', { key, body })).status).toBe(400);
  await open('Requests');
  await keyboard.press(/^\d+ \w+, \d+:\d+:\d+/);
  const dialog = page.getByRole('dialog');
  await dialog.getByText('refused 400').waitFor();
  const command = await dialog.getByRole('region', { name: 'the request as curl' }).innerText();
  const env = { ...process.env, DARKROOM_API_KEY: key };
  const { stdout } = await promisify(execFile)('sh', ['-c', command], { env });
  expect(JSON.parse(stdout)).toMatchObject({ error: { details: { errors: [{ field: 'resolution' }] } } });
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await open('Deliveries');
});

it('The receiver breaks, and the portal says why in words', async () => {
  await receiver.breakDown();
  const [key = ''] = secrets;
  const body = { model: 'sandbox-sketch', prompt: 'a broken receiver', webhook_url: receiver.url };
  const accepted = await service.send('/images/generate', { key, body });
  await service.ended(idOf(accepted));
  // The five attempts take a quarter of an hour.
  await service.machine.advance(910);
  await keyboard.press(/^Refresh$/);
  await sees('5 of 5');
  await keyboard.press(/^\d+ \w+, \d+:\d+:\d+/);
  await heading('Delivery');
  await sees(/refused the connection|nothing listens/i);
});

it('The receiver is mended, and the person redelivers', async () => {
  await receiver.mend();
  await keyboard.press(/^Redeliver$/);
  await heading('Deliveries');
  await expect.poll(() => receiver.received.length).toBe(2);
  expect(receiver.received).toEqual(['creation.completed', 'creation.completed']);
  // The row of the attempt is written after the receiver has answered.
  await expect
    .poll(
      async () => {
        const delivered = await page.getByRole('cell', { name: /^delivered/ }).count();
        // The table is empty until the answer to this press is there, so the next count decides.
        if (delivered === 0) await keyboard.press(/^Refresh$/);
        return delivered;
      },
      { interval: 1_000, timeout: 20_000 },
    )
    .toBe(1);
});

it('A rotation asks for a fresh sign-in, and is finished after it', async () => {
  await open('Webhooks');
  await keyboard.press(/^Rotate$/);
  await keyboard.press(/^Rotate/);
  await keyboard.press(/^Sign in and continue$/);
  await chooseMe();
  await heading('Webhooks');
  const secret = await shownSecret();
  expect(secret).not.toBe(receiver.secrets[0]);
  // The receiver still has the old secret alone, for its 24 hours.
  await keyboard.write(/^Address of your receiver/, receiver.url);
  await keyboard.press(/^Send a test delivery$/);
  await sees('delivered');
  expect(receiver.received).toHaveLength(3);
  expect(receiver.received).not.toContain(undefined);
});

it('The ledger as CSV adds up to the balance', async () => {
  await open('Wallet');
  await keyboard.reach(/^Download CSV$/);
  const [download] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('Enter')]);
  const [head = '', ...lines] = (await readFile(await download.path(), 'utf8')).trim().split('\r\n');
  const column = head.split(',').indexOf('amount');
  const sum = lines.reduce((total, line) => total + fromUsd(Number(line.split(',')[column])), 0);
  expect(lines.length).toBeGreaterThanOrEqual(3);
  const { availableMicros } = await service.account(account.id);
  expect(sum).toBe(availableMicros);
  expect(await service.audit()).toEqual([]);
  await sees(`$${(sum / 1_000_000).toFixed(2)}`);
});

it('No key, secret or session is in the storage of the pages or in a log', async () => {
  const cookies = await context.cookies();
  const session = cookies.find(({ name }) => name.startsWith('darkroom-portal-'));
  expect(session).toMatchObject({ httpOnly: true, sameSite: 'Lax', path: '/' });
  const stored = await page.evaluate<string>('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])');
  const visible = await page.evaluate<string>('document.cookie');
  const log = service.log.join('\n');
  const [token = ''] = session?.value.split('.') ?? [];
  expect(secrets).toHaveLength(3);
  for (const secret of [...secrets, token]) {
    expect(secret.length).toBeGreaterThan(30);
    for (const place of [stored, visible, log]) expect(place).not.toContain(secret);
  }
  // Before the first sign-in, and before the fresh one, the service refuses.
  expect(complaints.filter((text) => !/status of 40[13]/.test(text))).toEqual([]);
});

it('The reference shows the operations of the API, and asks nobody but the portal', async () => {
  const reference = await context.newPage();
  const asked: URL[] = [];
  const refused: string[] = [];
  reference.on('request', (request) => asked.push(new URL(request.url())));
  reference.on('pageerror', (error) => refused.push(error.message));
  reference.on('console', (message) => {
    if (message.type() === 'error') refused.push(message.text());
  });
  await reference.goto(new URL('reference', service.machine.portalUrl).href);
  await reference.getByRole('heading', { name: 'Order an image' }).first().waitFor();
  const { origin } = new URL(service.machine.portalUrl);
  const elsewhere = asked.filter((url) => url.protocol.startsWith('http') && url.origin !== origin);
  expect(elsewhere.map(({ href }) => href)).toEqual([]);
  expect(asked.length).toBeGreaterThanOrEqual(3);
  expect(refused).toEqual([]);
});
