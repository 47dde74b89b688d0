/** A stranger's first minutes with `darkroom serve`: link, key, image and webhook, in a real browser. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { listenOnLoopback } from '../../local/http.ts';
import { startBrowser } from '../fixtures/browser.ts';
import { newFolder } from '../local/machine-fixture.ts';
import { type Served, startServe } from './serve-child.ts';

let browser: Browser;
let served: Served;
beforeAll(async () => {
  // Without a public address the service has that of its listener, and webhooks may reach this machine.
  const more = ['--env', 'OUTBOUND_RULES=loopback-too', '--env', 'THUMBNAILS=on'];
  [browser, served] = await Promise.all([
    startBrowser(),
    startServe(join(newFolder(afterAll), 'data'), more, null),
  ]);
}, 120_000);
afterAll(async () => {
  await browser.close();
  await served.end();
});

it(
  'The first owner signs in, makes a key, and gets a picture and its webhook',
  { timeout: 120_000 },
  async () => {
    const events: string[] = [];
    const receiver = createServer((incoming, outgoing) => {
      incoming.on('data', (chunk: Buffer) => events.push(chunk.toString()));
      incoming.on('end', () => outgoing.end());
    });
    const hook = `http://127.0.0.1:${await listenOnLoopback(receiver)}/`;
    const page = await browser.newPage();
    page.setDefaultTimeout(20_000);
    await page.goto(served.firstLink() ?? '');
    await page.getByRole('textbox', { name: 'Your address' }).fill('owner@example.com');
    await page.getByRole('button', { name: 'Begin' }).click();
    await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
    await page.goto(`${new URL(page.url()).origin}/portal/keys`);
    await page.getByRole('button', { name: 'Create a key' }).click();
    await page.getByRole('textbox', { name: /^Name/ }).fill('first');
    await page.getByRole('button', { name: 'Create the key' }).click();
    await page.getByText('Store the key now.').waitFor();
    const key = /dk_live_\w{40}/.exec(await page.getByRole('dialog').innerText())?.[0] ?? '';
    const api = `${new URL(page.url()).origin}/api/public/v1/images/generate`;
    const answer = await fetch(api, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', prefer: 'wait=20' },
      body: JSON.stringify({ model: 'sandbox-sketch', prompt: 'a lake', webhook_url: hook }),
    });
    const { result_urls: urls } = (await answer.json()) as { result_urls: string[] };
    expect((await fetch(urls[0] ?? '')).headers.get('content-type')).toBe('image/png');
    await expect.poll(() => events.join(''), { timeout: 20_000 }).toContain('completed');
    receiver.close();
    receiver.closeAllConnections();
    await once(receiver, 'close');
  },
);
