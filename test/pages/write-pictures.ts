/**
 * Writes pictures of every page of the portal into a folder: on a wide screen in both themes, and on a phone. The pages
 * show the samples of the tests, so no picture has anything of a real account. The README and docs/portal.md show
 * five of them, docs/pictures/portal-*.jpg.
 *
 *   node test/pages/write-pictures.ts FOLDER
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { startPortalPage } from './stub/portal-page.ts';
import { hostile } from './stub/samples.ts';
import { type Visit, visits } from './walk.ts';

const friendly = 'a harbour in the morning fog';

const [, , folder] = process.argv;
if (folder === undefined) throw new Error('node test/pages/write-pictures.ts FOLDER: name the folder.');
const forms = [
  { name: 'dark', colorScheme: 'dark', width: 1280, height: 860 },
  { name: 'light', colorScheme: 'light', width: 1280, height: 860 },
  { name: 'phone', colorScheme: 'dark', width: 390, height: 844 },
] as const;

const signIn: Visit = { name: 'sign-in', path: '', heading: 'Darkroom' };
const portal = await startPortalPage();
const { page, stub } = portal;
await mkdir(folder, { recursive: true });
// The samples have scripts as prompts, which the tests need. A picture shows a prompt of a client.
await page.route('**/api/portal/**', async (route) => {
  const response = await route.fetch();
  const inJson = JSON.stringify(hostile).slice(1, -1);
  await route.fulfill({ response, body: (await response.text()).replaceAll(inJson, friendly) });
});
for (const { name: form, colorScheme, width, height } of forms) {
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
  await page.setViewportSize({ width, height });
  for (const visit of [signIn, ...visits]) {
    stub.reset();
    if (visit === signIn)
      stub.refuse('getMe', { status: 401, code: 'ERR_SESSION_REQUIRED', message: 'Sign in.' });
    await portal.open(visit.path, visit.heading);
    if (visit === signIn) await page.getByRole('link', { name: 'Sign in' }).waitFor();
    await page.locator('.loading').first().waitFor({ state: 'detached' });
    await page.waitForLoadState('networkidle');
    await page.screenshot({
      path: join(folder, `portal-${visit.name}-${form}.jpg`),
      type: 'jpeg',
      quality: 72,
    });
  }
}
await portal.end();
