/**
 * An operator and a person of finance use the whole service in real browsers. What they look up, pause and add up is
 * what the service then does and what its books say.
 */
import type { Page } from 'playwright-core';
import { afterAll, expect, it } from 'vitest';
import { runAdmin } from '../../admin/program.ts';
import { startBrowser } from '../fixtures/browser.ts';
import { mailsAt } from '../fixtures/mails.ts';
import { startTestService } from '../fixtures/service.ts';
import { asMicros } from '../../service/values/money.ts';
import { settled, submit } from '../whole/workflow/creations.ts';
import { keyboardOf } from './keyboard.ts';

const [service, browser] = await Promise.all([startTestService(), startBrowser()]);
const client = await service.client({ balance: '25' });
const order = { model: 'sandbox-sketch', prompt: 'a lake' };
afterAll(async () => {
  await browser.close();
  await service.end();
});

/** Invites the person by the command, and signs in with the first visit. */
async function signedIn(email: string, ...place: readonly string[]): Promise<Page> {
  const said = { print: () => undefined, complain: () => undefined };
  const invite = ['people', 'invite', ...place, '--email', email];
  expect(await runAdmin(['--data', service.folder, ...invite], said)).toBe(0);
  const page = await (await browser.newContext({ acceptDownloads: true })).newPage();
  await page.goto(service.machine.portalUrl);
  const keyboard = keyboardOf(page);
  await keyboard.press(/^Sign in/);
  await page.waitForURL(/_local\/issuer/);
  await keyboard.press(new RegExp(email));
  return page;
}

const generate = async (): Promise<number> =>
  (await service.send('/images/generate', { key: client.key, body: order })).status;

it('The operator finds a creation by its id, reads its account, and pauses a route and resumes it', async () => {
  const id = await submit(service, client.key, order);
  await settled(service, id);
  const page = await signedIn('op@walk.test', '--operator');
  const keyboard = keyboardOf(page);
  await keyboard.press(/^Go to the operator’s pages$/);
  await page.getByText('Nothing fails. No provider is paused.').waitFor();

  await page.keyboard.press('Control+k');
  await page.getByRole('dialog', { name: 'Search' }).waitFor();
  await page.keyboard.insertText(id);
  await page.getByRole('option', { name: /sandbox-sketch, completed/ }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('rowheader', { name: 'sandbox', exact: true }).waitFor();
  await keyboard.press(new RegExp(`^${client.account.name}$`));
  await keyboard.press(/^Change addresses$/);
  await keyboard.reach(/^New pictures$/);
  await page.keyboard.press('End');
  await keyboard.write(/^Minutes of a signed address$/, '0');
  await page.getByText('A whole number from 1 to 10080.').waitFor();
  await keyboard.write(/^Minutes of a signed address$/, '90');
  await keyboard.press(/^Save$/);
  await page.getByText('Signed, chosen for this account').waitFor();
  await page.getByText('90 minutes').waitFor();
  const signed = { results: 'signed', resultsMinutes: 90 };
  expect(await service.account(client.account.id)).toMatchObject(signed);
  await keyboard.press(/^Ledger$/);
  await page.getByRole('row').filter({ hasText: 'Charge' }).getByText(id.slice(-8)).waitFor();

  await keyboard.press(/^Providers$/);
  await keyboard.press(/^\d+ routes$/);
  await keyboard.press(/^Pause sandbox sketch$/);
  await keyboard.press(/^Pause it for everybody$/);
  await page.getByRole('button', { name: 'Resume sandbox sketch' }).waitFor();
  expect(await generate()).toBe(503);
  await keyboard.press(/^Resume sandbox sketch$/);
  await page.getByRole('button', { name: 'Pause sandbox sketch' }).waitFor();
  expect(await generate()).toBe(202);
});

it('Finance sees a statement that ends at the balance of the books, and no key', async () => {
  const page = await signedIn('finance@walk.test', client.account.id, '--role', 'finance');
  await page.getByRole('heading', { level: 1, name: 'Wallet' }).waitFor();
  // The last five minutes do not count yet.
  await service.machine.advance(6 * 60);
  await keyboardOf(page).press(/^Statement$/);
  await page.getByRole('row', { name: /Charges: sandbox-sketch 2/ }).waitFor();
  const { availableMicros, creditLineMicros } = await service.account(client.account.id);
  const closing = await page.getByRole('row', { name: /^Closing balance/ }).innerText();
  expect(Number(closing.replace(/^.*\$/s, ''))).toBe((availableMicros - creditLineMicros) / 1e6);
  expect(await page.content()).not.toContain(client.key.slice(0, 24));
  await page.goto(`${service.machine.portalUrl}keys`);
  await page.getByRole('heading', { level: 1, name: 'Not for your role' }).waitFor();
});

it('A person chooses notices by e-mail, confirms, gets one when the balance is low, and none after the end', async () => {
  const { localUrl } = service.machine;
  const low = await service.client({ balance: '1' });
  const page = await signedIn('mail@walk.test', low.account.id, '--role', 'finance');
  const keyboard = keyboardOf(page);
  const card = page.locator('#emails');
  await card.getByText('You get none. They would go to mail@walk.test.').waitFor();
  await keyboard.tick(/^The balance is low$/);
  await keyboard.press(/^Save$/);
  await card.getByText(/^Waiting for your confirmation/).waitFor();
  const mails = await page.context().newPage();
  await mails.goto(`${localUrl}/mails`);
  await mails.getByRole('link', { name: 'Confirm subscription' }).click();
  await mails.getByText('The subscription is confirmed.').waitFor();
  await page.reload();
  await card.getByText('On: they go to mail@walk.test.').waitFor();

  await service.operator.accounts.change(low.account.id, { lowBalanceMicros: asMicros(1_000_000) });
  await settled(service, await submit(service, low.key, order));
  const told = () =>
    mailsAt(localUrl).then((all) => all.filter(({ subject }) => subject.startsWith('Darkroom')));
  await expect.poll(async () => (await told()).length).toBe(1);
  await mails.getByRole('link', { name: 'all e-mails' }).click();
  const [mail] = await told();
  expect(mail?.to).toBe('mail@walk.test');
  await mails
    .getByRole('heading', { name: `Darkroom: the balance of ${low.account.name} is below 1.00 USD` })
    .waitFor();
  await mails.getByText(`The account ${low.account.name} has 0.99 USD left.`).waitFor();
  const link = /http\S+\/wallet\n/.exec(mail?.text ?? '')?.[0].trim() ?? '';
  await mails.goto(link);
  await mails.getByRole('heading', { name: 'Wallet', level: 1 }).waitFor();

  await keyboard.tick(/^The balance is low$/);
  await keyboard.press(/^Save$/);
  await card.getByText(/^You get none/).waitFor();
  const noticeUrl = service.machine.inboxUrl;
  for (const lowBalanceMicros of [asMicros(500_000), asMicros(2_000_000)]) {
    await service.operator.accounts.change(low.account.id, { noticeUrl, lowBalanceMicros });
    await settled(service, await submit(service, low.key, order));
    const isTold = async () => (await service.account(low.account.id)).toldLow !== undefined;
    await expect.poll(isTold).toBe(lowBalanceMicros > 1_000_000);
  }
  const arrived = async (): Promise<string> => (await fetch(noticeUrl)).text();
  await expect.poll(arrived).toContain('wallet.low');
  expect(await told()).toHaveLength(1);
});
