/** The package as it is packed: what is in it, how large it is, and whether a customer's program compiles with it. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildClient } from '../../client/build.ts';
import manifest from '../../client/package.json' with { type: 'json' };
import { writePackage } from '../../client/pack.ts';
import * as client from '../../client/src/index.ts';
import { headOf, schemasOf, typesOfDocuments } from '../../client/types.ts';
import { firstColumn, readPage, root, sectionOf } from '../docs/pages.ts';
import { stub } from './stub.ts';

/** The most bytes of each entry with everything that it loads, as it is and compressed. */
const limits: Readonly<Record<string, { readonly bytes: number; readonly gzipped: number }>> = {
  '.': { bytes: 23_000, gzipped: 7_200 },
  './ai-sdk': { bytes: 31_000, gzipped: 10_200 },
  './operator': { bytes: 15_000, gzipped: 6_000 },
  './webhooks': { bytes: 8_000, gzipped: 3_000 },
};

/** The most bytes of the whole package, compressed as npm packs it. The command is most of it. */
const packedBytes = 90_000;

let customer: string;
let folder: string;
/** Every file of the package. */
let files: { readonly name: string; readonly data: Buffer<ArrayBuffer> }[];
beforeAll(async () => {
  // A folder of the project, so that the customer's program finds the types of Node.
  customer = mkdtempSync(join(root, 'node_modules/.cache/customer-'));
  folder = join(customer, 'node_modules/darkroom-client');
  await buildClient(join(folder, 'dist'));
  for (const name of ['package.json', 'README.md'])
    await copyFile(join(root, 'client', name), join(folder, name));
  files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map(({ parentPath, name: base }) => join(parentPath, base))
    .map((name) => ({ name, data: readFileSync(name) }));
});
afterAll(() => rmSync(customer, { recursive: true, force: true }));

/** A file of the package, and every file that it imports. */
function loadedBy(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  const text = readFileSync(file, 'utf8');
  for (const [, imported = ''] of text.matchAll(/(?:from|import) ?["'](\.[^"']+)["']/g)) {
    loadedBy(join(file, '..', imported), seen);
  }
  return seen;
}

describe('the package', () => {
  it('publint finds nothing', async () => {
    const { messages } = await publint({ pkgDir: folder, pack: { files }, strict: true });
    expect(messages.map((message) => formatMessage(message, manifest))).toEqual([]);
  });

  it.each(Object.entries(limits))('The entry %s stays small', (entry, limit) => {
    const exported = manifest.exports as unknown as Record<string, { default: string }>;
    const texts = [...loadedBy(join(folder, exported[entry]?.default ?? ''))].map((one) => readFileSync(one));
    const bytes = Buffer.concat(texts);
    expect(bytes.length).toBeLessThanOrEqual(limit.bytes);
    expect(gzipSync(bytes).length).toBeLessThanOrEqual(limit.gzipped);
  });

  it('The packed file has these files, and twice the same bytes', { timeout: 30_000 }, async () => {
    const [one, other] = [join(customer, 'one'), join(customer, 'other')];
    await writePackage(one);
    await writePackage(other);
    for (const name of ['client/darkroom-client.tgz', 'client/darkroom-client.tgz.sha256'])
      expect(readFileSync(join(one, name)).equals(readFileSync(join(other, name)))).toBe(true);
    execFileSync('tar', ['xzf', join(one, 'client/darkroom-client.tgz'), '-C', one]);
    const packed = readdirSync(join(one, 'package'), { recursive: true, encoding: 'utf8' });
    expect(packed.toSorted()).toEqual(readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted());
    for (const { name, data } of files)
      expect(readFileSync(join(one, 'package', name.slice(folder.length))).equals(data), name).toBe(true);
    expect(statSync(join(one, 'package/package.json')).mtime.getUTCFullYear()).toBe(1985);
    const { size } = statSync(join(one, 'client/darkroom-client.tgz'));
    expect(size).toBeLessThanOrEqual(packedBytes);
  });

  it('Every entry has a limit', () => {
    const entries = Object.keys(manifest.exports).filter((entry) => entry !== './package.json');
    expect(Object.keys(limits)).toEqual(entries);
  });

  it('The package depends on nothing', () => {
    expect(Object.keys(manifest)).not.toContain('dependencies');
    expect(Object.keys(manifest)).not.toContain('peerDependencies');
  });

  it('The bundle exports what the source exports, and imports nothing from outside', async () => {
    const file = join(folder, 'dist/src/index.js');
    const built = (await import(pathToFileURL(file).href)) as object;
    expect(Object.keys(built).toSorted()).toEqual(Object.keys(client).toSorted());
    const imports = [...loadedBy(file)].flatMap((one) => [
      ...readFileSync(one, 'utf8').matchAll(/(?:^|;)import[^"']*["']([^."'][^"']*)["']/g),
    ]);
    expect(imports).toEqual([]);
  });

  it('A declaration names only declarations that are there', () => {
    const dist = join(folder, 'dist');
    const declarations = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.d.ts'),
    );
    const named = declarations.flatMap((name) =>
      [...readFileSync(join(dist, name), 'utf8').matchAll(/(?:from|import\() ?'(\.[^']+)'/g)].map(
        ([, path = '']) => join(name, '..', path.replace(/\.js$/, '.d.ts')),
      ),
    );
    expect(named.filter((name) => !declarations.includes(name))).toEqual([]);
    expect(declarations).toEqual(
      expect.arrayContaining(['src/ai-sdk.d.ts', 'src/index.d.ts', 'src/operator.d.ts', 'src/webhooks.d.ts']),
    );
  });
});

const program = `
import { generateImage } from 'ai';
import { Darkroom, GenerationFailed, type ApiPromise, type BucketCredentials, type CompletedCreation, type Creation, type Creations, type Pages, type ResultsBucket } from 'darkroom-client';
import { createDarkroom, type DarkroomImageOptions } from 'darkroom-client/ai-sdk';
import { ApiError as OperatorError, DarkroomOperator, type LedgerRow } from 'darkroom-client/operator';
import { verifyWebhook } from 'darkroom-client/webhooks';

const darkroom = new Darkroom({ fetch: globalThis.fetch });
const several: ApiPromise<Creations> = darkroom.images.generate({ model: 'm', prompt: 'p', count: 2 });
export const both: Creations = await several;
export const ends: Promise<CompletedCreation[]> = darkroom.images.generateAndWait({ model: 'm', count: 2 });
const submitted: ApiPromise<Creation> = darkroom.images.generate({ model: 'm', prompt: 'p', resolution: '1K' });
const creation = await submitted;
export const url = creation.status === 'completed' ? creation.results[0]?.url : undefined;
export const why = creation.status === 'failed' ? creation.error : undefined;
const failed: Pages<Creation> = darkroom.creations.list({ status: 'failed' });
for await (const one of failed) one.id.slice();
(await failed.page()).next_cursor?.slice();
(await submitted.asResponse()).headers.get('x-darkroom-cost');
export const onFailure = (error: unknown): boolean => error instanceof GenerationFailed && error.creation.retryable;
export const bytes = (await darkroom.results.download(creation)).size;
const { access_key_id, secret_access_key }: BucketCredentials = { access_key_id: 'i', secret_access_key: 's' };
const stored: ApiPromise<ResultsBucket> = darkroom.results.bucket.set({
  endpoint: 'https://s3.example.com',
  ...{ bucket: 'b', region: 'auto' },
  credentials: { access_key_id, secret_access_key },
});
(await stored).updated_at.slice();
export const copied: string | null | undefined = (await darkroom.results.bucket.copy(creation)).copy?.url;
// @ts-expect-error a bucket without its keys
await darkroom.results.bucket.set({ endpoint: 'https://s3.example.com', bucket: 'b', region: 'auto' });
for await (const { payload } of darkroom.events.follow()) if ('event' in payload) payload.status.slice();
export const verified = await verifyWebhook(new Request('https://receiver.test'), 'whsec_');
const options: DarkroomImageOptions = { resolution: '2K', user: 'ada' };
export const image = generateImage({
  model: createDarkroom(darkroom).image('m'),
  prompt: 'p',
  providerOptions: { darkroom: options },
});
const operator = new DarkroomOperator({ maxRetries: 3 });
const account = await operator.accounts.create({ name: 'n', limits: { deadline: 60 } }, { idempotencyKey: 'i' });
const { key } = await operator.keys.create(account.id, { name: 'k', daily_cap: null });
export const text: string | null = key;
const ledger: Pages<LedgerRow> = operator.wallet.ledger(account.id, { from: '2026-11-01' });
for await (const row of ledger) row.reference?.slice();
await operator.keys.revoke(account.id, 'k', { idempotencyKey: 'i' });
await operator.webhookSecrets.rotate(account.id);
for (const model of await operator.models.list()) model.routes[0]?.provider.slice();
export const isOurs = new OperatorError({ status: 409, code: 'c', message: 'm', details: {} }) instanceof Error;
// @ts-expect-error a payment without its reference
await operator.payments.create(account.id, { amount: 1 });
// @ts-expect-error a dimension that only the margin has
await operator.usage.get(account.id, { by: 'provider' });
// @ts-expect-error the id of the key is missing
await operator.keys.get(account.id);
// @ts-expect-error a field that the API does not have
await darkroom.images.generate({ model: 'm', promt: 'p' });
// @ts-expect-error a resolution that the API does not have
await darkroom.images.generate({ model: 'm', prompt: 'p', resolution: '8K' });
`;

it('A strict program of a customer compiles, and so does every declaration that it loads', () => {
  writeFileSync(join(customer, 'package.json'), '{"type":"module"}');
  writeFileSync(join(customer, 'program.ts'), program);
  const compiled = ts.createProgram([join(customer, 'program.ts')], {
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noEmit: true,
    // Only the types of Node: a customer's server has no lib.dom.
    lib: ['lib.es2023.d.ts'],
    types: ['node'],
  });
  const own = compiled.getSourceFiles().filter(({ fileName }) => fileName.startsWith(customer));
  const findings = own.flatMap((file) => [
    ...compiled.getSyntacticDiagnostics(file),
    ...compiled.getSemanticDiagnostics(file),
  ]);
  expect(own.length).toBeGreaterThan(10);
  expect(
    findings.map(({ messageText, file, start = 0 }) => {
      const line = file ? file.getLineAndCharacterOfPosition(start).line + 1 : 0;
      return `${file?.fileName.slice(customer.length) ?? ''}:${line} ${ts.flattenDiagnosticMessageText(messageText, ' ')}`;
    }),
  ).toEqual([]);
});

it.each(Object.entries(typesOfDocuments))(
  'The types in %s are those of %s; npm run openapi writes them',
  async (path, document) => {
    const file = readFileSync(join(root, path), 'utf8');
    const [head = '', types = ''] = file.split(/\n(?=\/\*\*|export )(.*)/s);
    expect(`${head}\n`, 'run npm run openapi').toBe(
      headOf(document, await schemasOf(document), types) + '\n',
    );
  },
);

const page = readPage('docs/client.md');

describe('docs/client.md', () => {
  it('The table of errors has every class of errors, and nothing else', () => {
    const classes = Object.entries(client)
      .filter(([, one]) => typeof one === 'function' && one.prototype instanceof client.DarkroomError)
      .map(([name]) => name);
    expect(firstColumn(sectionOf(page, '## Errors')).toSorted()).toEqual(classes.toSorted());
  });

  it('The table of calls has every call of the client, and nothing else', () => {
    const { darkroom } = stub([]);
    const callsIn = (parts: object, place: string): readonly string[] =>
      Object.entries(parts).flatMap(([room, part]: [string, unknown]) => {
        if (typeof part !== 'object' || part === null) return [];
        const form: unknown = Object.getPrototypeOf(part);
        if (form === Object.prototype) return callsIn(part, `${place}${room}.`);
        const own = Object.getOwnPropertyNames(form).filter((name) => !internal.includes(name));
        return [...own.map((name) => `${place}${room}.${name}`), ...callsIn(part, `${place}${room}.`)];
      });
    const named = firstColumn(sectionOf(page, '## Calls')).map(
      (cell) => /^`(\w+(?:\.\w+)+)/.exec(cell)?.[1] ?? cell,
    );
    expect(named.toSorted()).toEqual(callsIn(darkroom, '').toSorted());
  });
});

/** Methods that only the client itself calls. The declarations of the package do not have them. */
const internal: readonly string[] = ['constructor', 'read', 'waitSince'];
