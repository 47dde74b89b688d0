/** The example of a page, in a real browser: the page and the API have different origins. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { root } from '../docs/pages.ts';
import { startBrowser } from '../fixtures/browser.ts';
import { startTestService } from '../fixtures/service.ts';

const service = await startTestService();
const client = await service.client();
const server = spawn(process.execPath, [join(root, 'client/examples/page-server.mjs')], {
  env: { ...process.env, DARKROOM_API: service.machine.apiUrl, DARKROOM_KEY: client.key, PORT: '0' },
  stdio: ['ignore', 'pipe', 'inherit'],
});
const [printed] = (await once(server.stdout, 'data')) as [Buffer];
const address = String(printed).trim();
const browser = await startBrowser();
afterAll(async () => {
  await browser.close();
  server.kill();
  await once(server, 'exit');
  await service.end();
});

it('A page makes an image with a token that its server mints, and shows the image', async () => {
  const page = await browser.newPage();
  await page.goto(address);
  await page.click('button');
  await page.waitForFunction(`document.querySelector('img').naturalWidth > 0`, undefined, {
    timeout: 60_000,
  });
  expect(await page.textContent('[role=status]')).toBe('completed, 0.01 USD');
  // The code of the page reads the picture, for instance to change it.
  const picture = await page.getAttribute('img', 'src');
  expect(await page.evaluate(`fetch(${JSON.stringify(picture)}).then(({ status }) => status)`)).toBe(200);
  const { availableMicros } = await service.account(client.account.id);
  expect(availableMicros).toBe(24_990_000);
}, 90_000);

it('A page that slept past the end of its token gets a fresh one', async () => {
  const page = await browser.newPage();
  await page.goto(address);
  await page.click('button');
  await page.waitForFunction(`document.querySelector('img').naturalWidth > 0`, undefined, {
    timeout: 60_000,
  });
  service.jump(600);
  await page.click('button');
  await page.waitForFunction(
    `document.querySelector('[role=status]').textContent.startsWith('completed')`,
    undefined,
    { timeout: 60_000 },
  );
  expect((await service.account(client.account.id)).availableMicros).toBe(24_970_000);
}, 120_000);

it('Neither another page with the token nor this page with a key can read an answer', async () => {
  const { token } = (await (await fetch(`${address}my/token`)).json()) as { token: string };
  const ask = (key: string): string =>
    `fetch(${JSON.stringify(`${service.machine.apiUrl}/models`)}, { headers: { authorization: ${JSON.stringify(`Bearer ${key}`)} } })
      .then(({ status }) => String(status), () => 'refused by the browser')`;
  const page = await browser.newPage();
  await page.goto(address);
  expect(await page.evaluate(ask(token))).toBe('200');
  expect(await page.evaluate(ask(client.key))).toBe('refused by the browser');
  await page.goto('data:text/html,another page');
  expect(await page.evaluate(ask(token))).toBe('refused by the browser');
}, 60_000);
