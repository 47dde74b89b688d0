import { describe, expect, it } from 'vitest';
import type { OperatorCatalog } from '../../core/operator-catalog.ts';
import { Overloaded } from '../../core/ports/requests.ts';
import { catalogFor, soldCatalogs, type CatalogMemory } from '../../core/sold-catalog.ts';
import { aCreation, now } from '../fixtures/records.ts';
import { catalog } from './catalog-fixture.ts';

/** One environment of a function, over a table that a test changes. */
function environment() {
  const memory: CatalogMemory = { ours: catalog };
  const table: { stored?: Partial<OperatorCatalog>; broken?: boolean; reads: number } = { reads: 0 };
  const catalogs = soldCatalogs(memory, async () => {
    table.reads += 1;
    if (table.broken === true) return Promise.reject(new Overloaded('busy'));
    const stored = table.stored && { providers: [], models: {}, costs: [], revision: '1-a', ...table.stored };
    return Promise.resolve(stored);
  });
  return { table, catalogs };
}

const withoutPro = { 'sandbox-pro': null };

describe('the catalog of a request', () => {
  it('is ours without a read while no revision is named', async () => {
    const { table, catalogs } = environment();
    expect(await catalogs.at(undefined)).toBe(catalog);
    expect(table.reads).toBe(0);
  });

  it('is read once for each revision', async () => {
    const { table, catalogs } = environment();
    table.stored = { revision: '1-a', models: withoutPro };
    const first = await catalogs.at('1-a');
    expect(first.models.some(({ id }) => id === 'sandbox-pro')).toBe(false);
    expect(await catalogs.at('1-a')).toBe(first);
    expect(table.reads).toBe(1);
    table.stored = { revision: '2-b' };
    expect((await catalogs.at('2-b')).models).toHaveLength(catalog.models.length);
    expect(table.reads).toBe(2);
  });

  it('is a later one when an operator stored it after the request had read its revision', async () => {
    const { table, catalogs } = environment();
    table.stored = { revision: '3-c' };
    expect((await catalogs.at('2-b')).revision).toBe('3-c');
  });

  it('is refused when the item is older than the revision, is not there, or cannot be read', async () => {
    const { table, catalogs } = environment();
    await expect(catalogs.at('1-a')).rejects.toThrow(Overloaded);
    table.stored = { revision: '1-a' };
    await catalogs.at('1-a');
    await expect(catalogs.at('2-b')).rejects.toThrow(Overloaded);
    table.broken = true;
    await expect(catalogs.at('2-b')).rejects.toThrow(Overloaded);
    // What was read before still holds for its own revision.
    expect((await catalogs.at('1-a')).revision).toBe('1-a');
  });
});

describe('the catalog of a function that reads no service item', () => {
  it('is read at every question, and ours when nothing was ever stored', async () => {
    const { table, catalogs } = environment();
    expect(await catalogs.latest()).toBe(catalog);
    table.stored = { models: withoutPro };
    expect((await catalogs.latest()).models).toHaveLength(catalog.models.length - 1);
    expect(table.reads).toBe(2);
  });

  it.each([
    ['sold by it', { catalogRevision: '1-a' }],
    ['sold by ours', {}],
  ])('is at most a minute old for the GET of a creation that was %s', async (_by, change) => {
    const { table, catalogs } = environment();
    const creation = aCreation(change);
    const asked = async (millis: number): Promise<string | undefined> =>
      (await catalogFor({ creation }, now + millis, catalogs)).revision;
    table.stored = { revision: '1-a' };
    expect(await asked(0)).toBe('1-a');
    table.stored = { revision: '2-b' };
    expect([await asked(59_999), await asked(60_000)]).toEqual(['1-a', '2-b']);
    table.broken = true;
    expect(await asked(200_000)).toBe('2-b');
    expect(table.reads).toBe(3);
  });

  it('is ours again, and not the one that was read before, once nothing is stored', async () => {
    const { table, catalogs } = environment();
    const asked = (millis: number): ReturnType<typeof catalogFor> =>
      catalogFor({ creation: aCreation() }, now + millis, catalogs);
    table.stored = { revision: '1-a' };
    expect((await asked(0)).revision).toBe('1-a');
    delete table.stored;
    expect([await asked(60_000), await asked(60_001)]).toEqual([catalog, catalog]);
    expect(table.reads).toBe(2);
  });
});
