import { afterAll, describe, expect, it } from 'vitest';
import { startPortalPage } from './stub/portal-page.ts';
import { visits } from './walk.ts';

const portal = await startPortalPage();
await portal.open('account', 'Account');
afterAll(() => portal.end());

describe('Every page of the portal', () => {
  it.each(visits)(
    '$name has one heading, no violation of axe in both themes, and fits a phone',
    async (visit) => {
      const { page, complaints } = portal;
      await portal.reset();
      await page.emulateMedia({ colorScheme: 'dark' });
      await portal.follow(visit.path, visit.heading);
      await page.locator('.loading').first().waitFor({ state: 'detached' });
      expect(await page.getByRole('heading', { level: 1 }).count()).toBe(1);
      expect(await page.title()).toBe(`${visit.heading} · Darkroom`);
      expect(await page.locator('.failed').count()).toBe(0);
      expect(await portal.violations(), 'dark').toEqual([]);
      await page.emulateMedia({ colorScheme: 'light' });
      await page.setViewportSize({ width: 360, height: 740 });
      await page.getByRole('button', { name: 'Menu', expanded: false }).click();
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
      expect(await portal.violations(), 'light, on a phone').toEqual([]);
      // The samples hold prompts, names and answers that are scripts.
      expect(await page.evaluate('window.struck')).toBeUndefined();
      expect(complaints).toEqual([]);
    },
  );
});

describe('While its parts arrive', () => {
  it('no page moves what a person reads', async () => {
    const { page } = portal;
    await page.setViewportSize({ width: 1280, height: 860 });
    await page.addInitScript(`window.shift = 0;
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shift += entry.value;
      }).observe({ type: 'layout-shift', buffered: true });`);
    // Each answer comes alone, so that each of them is drawn.
    let last = Promise.resolve();
    await page.route('**/api/portal/**', async (route) => {
      last = last.then(() => page.waitForTimeout(60));
      await last;
      await route.continue();
    });
    const moved: string[] = [];
    for (const { name, path, heading } of visits) {
      await portal.open(path, heading);
      await page.waitForLoadState('networkidle');
      const shift = await page.evaluate<number>('window.shift');
      if (shift > 0.05) moved.push(`${name} ${shift.toFixed(3)}`);
    }
    await page.unroute('**/api/portal/**');
    expect(moved).toEqual([]);
  });
});
