/** The creations as pictures, in a real browser: the viewer, files, a comparison, and what lives on the page. */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { CreationRow } from '../../service/contract/portal-views.ts';
import { startPortalPage } from './stub/portal-page.ts';

const portal = await startPortalPage();
const { page, stub } = portal;
afterAll(() => portal.end());
beforeEach(() => portal.reset());

const sent = (operation: string) => stub.received.filter((one) => one.operation === operation);
const button = (name: string | RegExp) => page.getByRole('button', { name, exact: typeof name === 'string' });
const tiles = page.locator('.gallery .tile');
const { creations } = stub.samples;
const pictured = creations.slice(0, 10).filter(({ picture }) => picture !== null);
const viewed = (): string | null => new URL(page.url()).searchParams.get('view');
const listed = (rows: readonly CreationRow[]): void =>
  stub.answer('listPortalCreations', () => ({ data: rows, next_cursor: null }));

/** What each picture of the grid says of itself. */
const ofPhotos = (what: string): Promise<unknown[]> =>
  page.evaluate(`[...document.querySelectorAll('.gallery .photo:not(.none)')].map((one) => ${what})`);

describe('Creations as pictures', () => {
  it('stand in their natural ratios, and the address holds the choice of the form', async () => {
    await portal.open('creations', 'Creations');
    await page.locator('.photo.there').first().waitFor();
    const ratios = await ofPhotos('one.clientWidth / one.clientHeight');
    expect(ratios).toHaveLength(pictured.length);
    for (const [index, { picture }] of pictured.entries())
      expect(ratios[index]).toBeCloseTo((picture?.width ?? 0) / (picture?.height ?? 1), 1);
    await button('Table').click();
    expect(new URL(page.url()).search).toBe('?form=table');
    await page.reload();
    await page.getByRole('row').first().waitFor();
    await button('Grid').click();
    expect(new URL(page.url()).search).toBe('');
  });

  it('ask for their thumbnails alone, and show their own colours until these are there', async () => {
    await page.route('**/stub/**', () => undefined);
    const asked: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/stub/')) asked.push(request.url());
    });
    await portal.open('creations', 'Creations');
    await tiles.first().waitFor();
    const grounds = await ofPhotos('getComputedStyle(one).backgroundImage');
    expect(grounds.filter((ground) => String(ground).includes('radial-gradient')).length).toBe(
      pictured.filter(({ picture }) => picture?.colours.length === 9).length,
    );
    await expect.poll(() => asked.length).toBeGreaterThan(3);
    const small = pictured.filter(({ picture }) => picture?.large_url !== null).length;
    expect(asked.filter((url) => url.endsWith('?480')).length).toBeLessThanOrEqual(small);
    expect(asked.filter((url) => url.endsWith('.svg')).length).toBeLessThanOrEqual(pictured.length - small);
    await page.unroute('**/stub/**');
  });
});

describe('The viewer', () => {
  it('goes to the neighbours by arrows, keeps its picture in the address, and the way back closes it', async () => {
    await portal.open('creations', 'Creations');
    await tiles.nth(2).click();
    await page.getByRole('dialog').waitFor();
    expect(viewed()).toBe(creations[2]?.id);
    await page.keyboard.press('ArrowRight');
    await expect.poll(viewed).toBe(creations[3]?.id);
    await page.getByRole('status').filter({ hasText: '4 of 10' }).waitFor();
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowLeft');
    await expect.poll(viewed).toBe(creations[1]?.id);
    expect(await portal.violations('dialog')).toEqual([]);
    await page.goBack();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await expect.poll(() => page.evaluate('document.activeElement.className')).toBe('tile');
  });

  it('opens by its address, zooms to the pixels of the picture, and Escape closes it', async () => {
    await portal.open(`creations?view=${creations[2]?.id ?? ''}`, 'Creations');
    const image = page.getByRole('dialog').getByRole('img');
    await page.setViewportSize({ width: 700, height: 600 });
    const width = async (): Promise<number | undefined> => (await image.boundingBox())?.width;
    expect(await width()).toBeLessThanOrEqual(700);
    await page.keyboard.press('z');
    await expect.poll(width).toBe(creations[2]?.picture?.width);
    await page.keyboard.press('z');
    await expect.poll(width).toBeLessThanOrEqual(700);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(viewed()).toBeNull();
    await page.setViewportSize({ width: 1280, height: 860 });
  });

  it('downloads the picture itself under a name that says what it is', async () => {
    await portal.open(`creations?view=${creations[2]?.id ?? ''}`, 'Creations');
    const begun = page.waitForEvent('download');
    await button('Download').click();
    const file = await begun;
    const { created_at: at = '', id = '' } = creations[2] ?? {};
    expect(file.suggestedFilename()).toBe(
      `${at.slice(0, 10)}-a-fox-asleep-in-fresh-snow-${id.slice(-6)}.png`,
    );
    expect(await readFile(await file.path(), 'utf8')).toContain('<svg');
  });
});

describe('Several creations', () => {
  it('become one archive, which names a picture that is gone', async () => {
    await page.addInitScript('delete globalThis.showSaveFilePicker');
    await page.route(`**${creations[3]?.picture?.url ?? ''}`, (route) => route.fulfill({ status: 403 }));
    await portal.open('creations', 'Creations');
    await button('Select').click();
    for (const index of [1, 2, 3]) await tiles.nth(index).click();
    expect(await tiles.nth(0).isDisabled()).toBe(true);
    await page.getByText('3 selected').waitFor();
    const begun = page.waitForEvent('download');
    await button('Download as zip').click();
    const file = await begun;
    expect(file.suggestedFilename()).toMatch(/^darkroom-\d{4}-\d\d-\d\d-3-pictures\.zip$/);
    const text = await readFile(await file.path(), 'latin1');
    // The entries of the archive's directory.
    expect(text.split('PK\u0001\u0002').length - 1).toBe(2);
    expect(text).toContain('a-fox-asleep-in-fresh-snow');
    await page.getByText('2 pictures are in the archive. 1 could not be fetched.').waitFor();
    await page.unroute('**');
  });

  it('stand beside each other when there are two of them', async () => {
    await portal.open('creations', 'Creations');
    await button('Select').click();
    await tiles.nth(1).click();
    expect(await button('Compare').isDisabled()).toBe(true);
    await tiles.nth(2).click();
    await button('Compare').click();
    const shown = page.getByRole('dialog');
    expect(await shown.getByRole('img').count()).toBe(2);
    expect(await portal.violations('dialog')).toEqual([]);
    await page.keyboard.press('Escape');
    await shown.waitFor({ state: 'detached' });
    await button('Done').click();
    await page.getByText('2 selected').waitFor({ state: 'detached' });
  });
});

describe('What lives on the page', () => {
  const setHidden = (isHidden: boolean): Promise<unknown> =>
    page.evaluate(`Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));`);
  const open = creations[0] as CreationRow;
  const lookingEach = (seconds: number): CreationRow => ({ ...open, look_after_seconds: seconds });

  it('follows open creations alone, and takes their pictures in place when they end', async () => {
    listed([lookingEach(0.2), ...creations.slice(1, 6)]);
    await portal.open('creations', 'Creations');
    await expect.poll(() => sent('getPortalCreation').length).toBeGreaterThan(1);
    expect(new Set(sent('getPortalCreation').map(({ id }) => id))).toEqual(new Set([open.id]));
    const { picture } = creations[1] as CreationRow;
    stub.answer('getPortalCreation', ({ id }) => ({
      ...stub.samples.creationDetail(open),
      ...{ id, picture, status: 'completed', look_after_seconds: null },
    }));
    await tiles.first().getByRole('img').waitFor();
    const looks = sent('getPortalCreation').length;
    // Nothing is open any more. A poll would come within the time of another page.
    await portal.follow('wallet', 'Wallet');
    await portal.follow('creations', 'Creations');
    expect(sent('getPortalCreation').length).toBe(looks);
  });

  it('asks for nothing while nobody sees the page', async () => {
    listed([lookingEach(0.2)]);
    stub.answer('getPortalCreation', () => ({
      ...stub.samples.creationDetail(open),
      look_after_seconds: 0.2,
    }));
    await portal.open('creations', 'Creations');
    await expect.poll(() => sent('getPortalCreation').length).toBeGreaterThan(0);
    await setHidden(true);
    await page.waitForTimeout(300);
    const looks = sent('getPortalCreation').length;
    await page.waitForTimeout(600);
    expect(sent('getPortalCreation').length).toBe(looks);
    await setHidden(false);
    await expect.poll(() => sent('getPortalCreation').length).toBeGreaterThan(looks);
  });

  it.each(['grid', 'table'])(
    'A new creation is announced, and moves nothing of the %s that a person reads',
    async (form) => {
      const row = (index: number): CreationRow => ({
        ...(creations[2] as CreationRow),
        id: `01a1fea2-83cb-71c7-a229-${String(index).padStart(12, '0')}`,
        prompt: `number ${index}`,
      });
      const rows = Array.from({ length: 60 }, (_, index) => row(index));
      listed(rows);
      await portal.open(`creations?form=${form}`, 'Creations');
      const read = page.locator('[data-row]').nth(30);
      await read.scrollIntoViewIfNeeded();
      await page.evaluate('scrollBy(0, 100)');
      const topOf = async (id: string): Promise<number> =>
        (await page.locator(`[data-row="${id}"]`).boundingBox())?.y ?? 0;
      const first = await page.evaluate<string>(
        `[...document.querySelectorAll('[data-row]')].find((one) => one.getBoundingClientRect().bottom > 0).dataset.row`,
      );
      const before = await topOf(first);
      listed([row(900), row(901), row(902), row(903), row(904), ...rows]);
      await setHidden(false);
      await page.getByText('5 new creations are above.').waitFor();
      // A browser scrolls by whole pixels.
      expect(Math.abs((await topOf(first)) - before)).toBeLessThanOrEqual(1);
    },
  );

  it('A page that was seen before is there at once, and is read again behind', async () => {
    await portal.open('creations', 'Creations');
    await tiles.first().waitFor();
    await portal.follow('wallet', 'Wallet');
    stub.hold('listPortalCreations');
    const asked = sent('listPortalCreations').length;
    await page.getByRole('navigation').getByRole('link', { name: 'Creations' }).click();
    await tiles.first().waitFor();
    await expect.poll(() => sent('listPortalCreations').length).toBe(asked + 1);
  });

  it('Nothing of one account is shown after another tab has changed the account', async () => {
    await portal.open('creations', 'Creations');
    await tiles.first().waitFor();
    const { me } = stub.samples;
    stub.answer('getMe', () => ({ ...me, account: { ...me.account, id: 'another' } as typeof me.account }));
    stub.hold('listPortalCreations');
    await setHidden(false);
    await expect.poll(() => tiles.count()).toBe(0);
    await page.getByRole('heading', { level: 1, name: 'Creations' }).waitFor();
  });

  it('An address that names a creation behind the rows leads to its page', async () => {
    const { id } = creations[20] as CreationRow;
    await portal.open(`creations?view=${id}`, 'Creation');
    expect(new URL(page.url()).pathname).toBe(`/portal/creations/${id}`);
  });
});
