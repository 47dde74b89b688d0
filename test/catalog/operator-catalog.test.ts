import { describe, expect, it } from 'vitest';
import { type OperatorCatalog, NewerCatalog } from '../../service/catalog/operator-catalog.ts';
import { providerDefinitionSchema } from '../../service/catalog/provider-definition-schema.ts';
import type { ProviderDefinition } from '../../service/catalog/provider-definition.ts';
import { catalogFor, type CatalogMemory, soldCatalogs } from '../../service/catalog/sold-catalog.ts';
import { Overloaded } from '../../service/values/errors.ts';
import { fieldErrors } from '../../service/values/problem.ts';
import { aCreation, now, accountId, seededBytes } from '../fixtures/records.ts';
import { catalog } from './catalog-fixture.ts';
import { createDirectClient } from '../../lab/simulation/aws/http-exchange.ts';
import { createSimulatedTable, tableName } from '../../lab/simulation/aws/simulated-table.ts';
import { AwsError } from '../../local/aws/aws-error.ts';
import { createRequestStore } from '../../service/api/request-store.ts';
import type { Table } from '../../service/aws/dynamodb/table.ts';
import {
  readOperatorCatalogInBatch,
  bytesOf,
  createOperatorCatalogStore,
  mostCatalogBytes,
} from '../../service/catalog/operator-catalog-store.ts';
import { createProviderStore } from '../../service/catalog/provider-store.ts';
import { createPortalReads } from '../../service/portal/portal-reads.ts';
import type { KeyId } from '../../service/values/ids.ts';
import { fakeClock } from '../api/fakes.ts';

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

const good: ProviderDefinition = {
  name: 'gpu',
  title: 'Our GPU',
  style: 'vllm-omni',
  baseUrl: 'http://10.0.0.7:8000',
  credential: 'none',
  network: 'private',
  imageHosts: [],
  differences: {},
};

/** The errors of a definition with this change, as "field: message". */
function errorsOf(change: object): readonly string[] {
  const parsed = providerDefinitionSchema.safeParse({ ...good, ...change }, { reportInput: true });
  return parsed.success
    ? []
    : fieldErrors(parsed.error.issues).map(({ field, message }) => `${field}: ${message}`);
}

describe('The schema of a configured provider', () => {
  it('A definition is stored as it was given', () => {
    const whole: ProviderDefinition = {
      ...good,
      network: 'public',
      baseUrl: 'https://gpu.example.com/tenant',
      credential: 'key',
      imageHosts: ['images.example.com'],
      differences: { seed: null, sourceField: 'image[]', billed: 'usage.cost', fixed: { watermark: false } },
    };
    expect(providerDefinitionSchema.parse(whole)).toEqual(whole);
  });

  it('A difference that is undefined is left out', () => {
    const parsed = providerDefinitionSchema.parse({
      ...good,
      differences: { seed: undefined, size: 'tier' },
    });
    expect(Object.keys(parsed.differences)).toEqual(['size']);
  });

  it.each([
    'http://localhost:8000',
    'http://gpu',
    'https://gpu.internal:8443',
    'http://[fd12::7]:8000',
    'http://127.0.0.1:1',
    'http://100.64.0.1',
  ])('With a private network, the base URL may be %s', (baseUrl) => {
    expect(errorsOf({ baseUrl })).toEqual([]);
  });

  it.each<[object, string]>([
    [{ name: 'openai' }, 'name: is the name of a provider that is built in'],
    [{ name: 'sandbox' }, 'name: is the name of a provider that is built in'],
    [{ name: 'G' }, 'name: must have 2 to 32 lower-case letters, digits and hyphens'],
    [{ name: '-gpu' }, 'name: must have 2 to 32 lower-case letters, digits and hyphens'],
    [{ style: 'azure' }, 'style: must be one of "openai", "vllm-omni"'],
    [{ baseUrl: 'gpu' }, 'baseUrl: must be a URL such as https://gpu.example.com'],
    [{ baseUrl: 'ftp://gpu' }, 'baseUrl: must begin with https:// or http://'],
    [{ baseUrl: 'http://me:secret@gpu' }, 'baseUrl: must not contain a user name or password'],
    [{ baseUrl: 'http://gpu/' }, 'baseUrl: must end before the path of the style, without a slash'],
    [{ baseUrl: 'http://gpu?key=1' }, 'baseUrl: must end before the path of the style, without a slash'],
    [{ network: 'public' }, 'baseUrl: must begin with https:// on a public network'],
    [{ network: 'public', baseUrl: 'https://10.0.0.7' }, 'baseUrl: must lead to public addresses only'],
    [{ baseUrl: 'http://169.254.169.254' }, 'baseUrl: must not lead to a link-local address'],
    [{ baseUrl: 'http://[fe80::1]' }, 'baseUrl: must not lead to a link-local address'],
    [{ baseUrl: 'http://[::ffff:169.254.169.254]' }, 'baseUrl: must not lead to a link-local address'],
    [{ baseUrl: 'http://[fd00:ec2::254]' }, 'baseUrl: must not lead to a link-local address'],
    [{ imageHosts: ['Images.example.com'] }, 'imageHosts[0]: must be a host name in lower case'],
    [{ imageHosts: ['10.0.0.1'] }, 'imageHosts[0]: must be a host name in lower case'],
    [{ imageHosts: ['com'] }, 'imageHosts[0]: must be a host name in lower case'],
    [{ differences: { colour: 1 } }, 'differences.colour: not a field of this request'],
    [{ differences: { seed: 'a b' } }, 'differences.seed: must be the name of a field'],
    [{ differences: { editsPath: 'edits' } }, 'differences.editsPath: must be a path such as'],
    [{ differences: { checkPath: '/a/../b?c' } }, 'differences.checkPath: must be a path such as'],
    [{ differences: { size: 'large' } }, 'differences.size: must be one of "pixels"'],
    [{ differences: { billedPerUsd: 0 } }, 'differences.billedPerUsd'],
  ])('The definition with %j is refused with "%s"', (change, error) => {
    expect(errorsOf(change)).toEqual([expect.stringContaining(error)]);
  });
});

/** `around` may fail a transaction, or lose its answer. */
function open() {
  const memory = createSimulatedTable({ now: () => now });
  const calls = { around: (_operation: string, run: () => object): object => run() };
  const client = createDirectClient((operation, input) =>
    calls.around(operation, () => memory.perform(operation, input)),
  );
  const table: Table = { client, name: tableName, clock: fakeClock(), randomBytes: seededBytes };
  return { memory, calls, table, store: createOperatorCatalogStore(table) };
}

const first: OperatorCatalog = {
  revision: '1-a',
  providers: [],
  models: { 'sandbox-pro': null, own: { name: 'Ünïcode', seed: null } },
  costs: [],
};
const second = { ...first, revision: '2-b', models: {} };

describe('The operator’s catalog in the table', () => {
  it('is read as it was stored, in both ways of reading', async () => {
    const { table, store } = open();
    expect(await store.read()).toBeUndefined();
    expect(await store.store(first, undefined)).toBe(true);
    expect(await store.read()).toEqual(first);
    expect(await readOperatorCatalogInBatch(table)).toEqual(first);
  });

  it('has its revision in the service item, beside the enabled providers, for requests and for the portal', async () => {
    const { table, store } = open();
    await createProviderStore(table).enable('gpu');
    await store.store(first, undefined);
    await store.store(second, '1-a');
    const question = {
      clientAddress: '203.0.113.9',
      key: { accountId, keyId: 'key' as KeyId },
      rate: 'post',
      nowMillis: now,
    } as const;
    expect(await store.revision()).toBe('2-b');
    const read = { catalogRevision: '2-b', enabledProviders: ['gpu'] };
    expect(await createRequestStore(table).read(question)).toMatchObject(read);
    expect(await createPortalReads(table).service()).toMatchObject(read);
  });

  it('is not stored over a change that the operator has not seen', async () => {
    const { store } = open();
    await store.store(first, undefined);
    const other = { ...second, revision: '2-c' };
    expect(await store.store(second, '1-a')).toBe(true);
    expect(await store.store(other, '1-a')).toBe(false);
    expect(await store.store(other, undefined)).toBe(false);
    expect(await store.read()).toEqual(second);
  });

  it('is stored once when the answer to the first try was lost', async () => {
    const { calls, store } = open();
    let isLost = false;
    calls.around = (operation, run) => {
      const answer = run();
      if (operation !== 'TransactWriteItems' || isLost) return answer;
      isLost = true;
      throw new AwsError('TransactionCanceledException', 'lost', {
        fields: { CancellationReasons: [{ Code: 'TransactionConflict' }, { Code: 'None' }] },
      });
    };
    expect(await store.store(first, undefined)).toBe(true);
    expect(await store.read()).toEqual(first);
  });

  it('is refused while the table is busy, and says so', async () => {
    const { calls, store } = open();
    calls.around = () => {
      throw new AwsError('TransactionCanceledException', 'busy', {
        fields: { CancellationReasons: [{ Code: 'None' }, { Code: 'TransactionConflict' }] },
      });
    };
    await expect(store.store(first, undefined)).rejects.toThrow(Overloaded);
  });

  it('is not understood when a newer release has stored it', async () => {
    const { memory, store } = open();
    await store.store(first, undefined);
    memory.perform('UpdateItem', {
      TableName: tableName,
      Key: { pk: { S: 'OPERATOR_CATALOG' }, sk: { S: 'OPERATOR_CATALOG' } },
      UpdateExpression: 'SET v = :v',
      ExpressionAttributeValues: { ':v': { N: '2' } },
    });
    await expect(store.read()).rejects.toThrow(NewerCatalog);
  });

  it('is as large as its texts in UTF-8, and one item holds the largest', async () => {
    const { store } = open();
    expect(bytesOf({ providers: [], models: { é: null }, costs: [] })).toBe(2 + 11 + 2);
    const name = 'x'.repeat(mostCatalogBytes - bytesOf({ ...first, models: { own: { name: '' } } }));
    const largest = { ...first, models: { own: { name } } };
    expect(bytesOf(largest)).toBe(mostCatalogBytes);
    expect(await store.store(largest, undefined)).toBe(true);
  });
});
