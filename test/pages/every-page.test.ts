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
