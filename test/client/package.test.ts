/** The package as it is packed: what is in it, how large it is, and whether publint finds a fault. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildClient } from '../../client/build.ts';
import manifest from '../../client/package.json' with { type: 'json' };
import * as source from '../../client/src/index.ts';
import * as client from '../../client/src/index.ts';
import { headOf, schemasOf, typesPath } from '../../client/types.ts';
import { firstColumn, readPage, root, sectionOf } from '../docs/pages.ts';
import { stub } from './stub.ts';

/** The most bytes of each entry with everything that it loads, as it is and compressed. */
const limits: Readonly<Record<string, { readonly bytes: number; readonly gzipped: number }>> = {
  '.': { bytes: 23_000, gzipped: 7_200 },
  './ai-sdk': { bytes: 31_000, gzipped: 10_200 },
  './webhooks': { bytes: 8_000, gzipped: 3_000 },
};

/** The most bytes of the whole package, compressed as npm packs it. The command is most of it. */
const packedBytes = 90_000;

let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'darkroom-package-'));
  await buildClient(join(folder, 'dist'));
  for (const name of ['package.json', 'README.md']) {
    await copyFile(join(root, 'client', name), join(folder, name));
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

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
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8', withFileTypes: true })
      .filter((one) => one.isFile())
      .map((one) => join(one.parentPath, one.name))
      .map((name) => ({ name, data: readFileSync(name) }));
    const { messages } = await publint({ pkgDir: folder, pack: { files }, strict: true });
    expect(messages.map((message) => formatMessage(message, manifest))).toEqual([]);
  });

  for (const [entry, limit] of Object.entries(limits)) {
    it(`The entry ${entry} stays small`, () => {
      const { default: file } = (manifest.exports as unknown as Record<string, { default: string }>)[
        entry
      ] ?? {
        default: '',
      };
      const texts = [...loadedBy(join(folder, file))].map((one) => readFileSync(one));
      const bytes = Buffer.concat(texts);
      expect(bytes.length).toBeLessThanOrEqual(limit.bytes);
      expect(gzipSync(bytes).length).toBeLessThanOrEqual(limit.gzipped);
    });
  }

  it('The whole package stays small', () => {
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8', withFileTypes: true });
    const all = Buffer.concat(
      files.filter((one) => one.isFile()).map((one) => readFileSync(join(one.parentPath, one.name))),
    );
    expect(gzipSync(all, { level: 9 }).length).toBeLessThanOrEqual(packedBytes);
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
    expect(Object.keys(built).toSorted()).toEqual(Object.keys(source).toSorted());
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
      expect.arrayContaining(['src/ai-sdk.d.ts', 'src/index.d.ts', 'src/webhooks.d.ts']),
    );
  });
});

it('The types of the client are those of docs/openapi.json; npm run openapi writes them', () => {
  const schemas = schemasOf(readFileSync(join(root, 'docs/openapi.json'), 'utf8'));
  const file = readFileSync(join(root, typesPath), 'utf8');
  const types = file.slice(file.indexOf('/**'));
  expect(file.slice(0, file.indexOf('/**')), 'run npm run openapi').toBe(`${headOf(schemas, types)}\n`);
});

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
    const calls = Object.entries(darkroom).flatMap(([room, part]: [string, unknown]) =>
      typeof part === 'object' && part !== null
        ? Object.getOwnPropertyNames(Object.getPrototypeOf(part))
            .filter((name) => !internal.includes(name))
            .map((name) => `${room}.${name}`)
        : [],
    );
    const named = firstColumn(sectionOf(page, '## Calls')).map(
      (cell) => /^`(\w+\.\w+)/.exec(cell)?.[1] ?? cell,
    );
    expect(named.toSorted()).toEqual(calls.toSorted());
  });
});

/** Methods that only the client itself calls. The declarations of the package do not have them. */
const internal: readonly string[] = ['constructor', 'read', 'waitSince'];
