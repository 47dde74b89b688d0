/** One browser with one page of the portal before the stand-in of its API, for a whole test file. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { buildPortal } from '../../../portal/build.ts';
import { startBrowser } from '../../fixtures/browser.ts';
import { startStub, type Stub } from './server.ts';

const base = '/portal/';

export interface PortalPage {
  readonly page: Page;
  readonly stub: Stub;
  /** What the browser complained about since the last reset. */
  readonly complaints: string[];
  /** Opens a page of the portal, and waits for its heading. */
  open(path: string, heading: string): Promise<void>;
  /**
   * Opens a page of the portal without a new load if the last page was opened so, too: a load takes five times as
   * long. For a test that neither changes who is signed in nor needs what a load does.
   */
  show(path: string, heading: string): Promise<void>;
  /** Goes to another page without a new load, as a link does. */
  follow(path: string, heading: string): Promise<void>;
  /** What axe finds in these parts of the page, or in all of it, a line each. */
  violations(parts?: string): Promise<string[]>;
  reset(): Promise<void>;
  end(): Promise<void>;
}

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
  }[];
}

export async function startPortalPage(): Promise<PortalPage> {
  const folder = await mkdtemp(join(tmpdir(), 'darkroom-pages-'));
  await buildPortal(folder, base);
  const stub = await startStub(folder, base, Date.now());
  const browser = await startBrowser();
  const page = await browser.newPage({ viewport: { width: 1280, height: 860 }, reducedMotion: 'reduce' });
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    // A refusal of the API is a line of the console, too, and no complaint about the page.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      complaints.push(message.text());
  });
  const headed = async (heading: string): Promise<void> => {
    await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor();
  };
  let isShown = false;
  const open: PortalPage['open'] = async (path, heading) => {
    isShown = false;
    await page.goto(stub.url + path);
    await headed(heading);
  };
  const follow: PortalPage['follow'] = async (path, heading) => {
    await page.evaluate(
      `history.pushState(null, '', ${JSON.stringify(base + path)}); dispatchEvent(new PopStateEvent('popstate'))`,
    );
    await headed(heading);
  };
  return {
    page,
    stub,
    complaints,
    open,
    show: async (path, heading) => {
      if (isShown) {
        // A page in between, so that nothing of the last one stays.
        await follow('nowhere', 'There is no such page');
        await follow(path, heading);
      } else await open(path, heading);
      isShown = true;
    },
    follow,
    violations: async (parts = 'html') => {
      if (await page.evaluate('typeof axe === "undefined"')) await page.evaluate(axe.source);
      const { violations } = await page.evaluate<AxeResult>(
        `axe.run('${parts}', { resultTypes: ['violations'], preload: false })`,
      );
      return violations.flatMap(({ id, nodes }) =>
        nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`),
      );
    },
    reset: async () => {
      stub.reset();
      complaints.length = 0;
      await page.setViewportSize({ width: 1280, height: 860 });
    },
    end: async () => {
      await browser.close();
      await stub.end();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
