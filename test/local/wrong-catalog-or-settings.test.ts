import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { CatalogError, readCatalog, readProviderCosts } from '../../admin/catalog/catalog-files.ts';
import { newFolder } from './machine-fixture.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const goodModels = readFileSync(path.join(root, 'service', 'catalog', 'models.json'), 'utf8');
const goodCosts = readFileSync(path.join(root, 'service', 'catalog', 'provider-costs.json'), 'utf8');

const folder = newFolder(afterAll);

/** The message that refuses this text as a catalog. */
function complaintAbout(text: string): string {
  writeFileSync(path.join(folder, 'models.json'), text);
  try {
    readCatalog(folder);
  } catch (error) {
    if (error instanceof CatalogError) return error.message;
    throw error;
  }
  throw new Error('the catalog was not refused');
}

const changeableSchema = z.object({ models: z.array(z.record(z.string(), z.unknown())) });
type Changeable = z.output<typeof changeableSchema>;

/** The text of the good catalog after one change. */
function changed(change: (catalog: Changeable) => void): string {
  const catalog = changeableSchema.parse(JSON.parse(goodModels));
  change(catalog);
  return JSON.stringify(catalog);
}

/** The catalog with other members of the model sandbox-pro. */
const withPro = (members: object): string =>
  changed(({ models }) => {
    Object.assign(models.find(({ id }) => id === 'sandbox-pro') ?? {}, members);
  });

const routeOfPro = (members: object): string =>
  changed(({ models }) => {
    const pro = models.find(({ id }) => id === 'sandbox-pro');
    const routes = z.array(z.record(z.string(), z.unknown())).parse(pro?.['routes']);
    Object.assign(pro ?? {}, { routes: [{ ...routes[0], ...members }, ...routes.slice(1)] });
  });

const sunset = '2027-05-21T00:00:00Z';
const sunsetSentence = `service/catalog/models.json: model sandbox-pro: sunset_at must be a date, such as 2027-05-21; it is ${JSON.stringify(sunset)}.`;

const withSunset = withPro({ deprecated_at: '2026-01-01', sunset_at: sunset });

describe('a catalog with an error', () => {
  it.each([
    [sunsetSentence, withSunset],
    [
      'model sandbox-pro: sunset_at needs a deprecated_at',
      withPro({ deprecated_at: '2026-01-01', sunset_at: '2026-02-01' }),
    ],
    ['model sandbox-pro: name must be text in quotes; it is 3.', withPro({ name: 3 })],
    ['model sandbox-pro: max_image_urls must be at most 10; it is 11.', withPro({ max_image_urls: 11 })],
    ['model sandbox-pro: name must not be empty; it is "".', withPro({ name: '' })],
    [
      'default_resolution must be one of "1K", "2K", "4K"; it is "8K".',
      withPro({ default_resolution: '8K' }),
    ],
    [
      'model sandbox-pro: description must be text in quotes; it is missing.',
      withPro({ description: undefined }),
    ],
    ['model sandbox-pro: sunset is no field of the catalog', withPro({ sunset: 1 })],
    [
      'model sandbox-pro: pricing.0.usd must have at most 6 decimals; it is 1e-7.',
      withPro({ pricing: [{ resolution: '1K', usd: 0.000_000_1, usd_per_input_image: 0 }] }),
    ],
    ['model sandbox-pro: route nobody ', routeOfPro({ provider: 'nobody' })],
    [
      'model number 2: id must be text in quotes; it is missing.',
      changed(({ models }) => {
        models[1] = {};
      }),
    ],
    ['models must not be empty; it is [].', '{"models":[]}'],
    ['the file must be an object in { }; it is [].', '[]'],
    ['service/catalog/models.json: is not JSON (', '{"models": ['],
  ])('A catalog is refused with one sentence: %s', (sentence, text) => {
    const message = complaintAbout(text);
    expect(message).toContain(sentence);
    for (const line of message.split('\n')) expect(line).toMatch(/^service\/catalog\/models\.json: .*\.$/);
  });

  it('A catalog is refused with the file and the entry when a cost is wrong', () => {
    const { costs } = z.object({ costs: z.array(z.looseObject({})) }).parse(JSON.parse(goodCosts));
    const [first, ...others] = costs;
    writeFileSync(
      path.join(folder, 'provider-costs.json'),
      JSON.stringify({ costs: [{ ...first, checked_at: 'yesterday' }, ...others] }),
    );
    expect(() => readProviderCosts(folder)).toThrow(
      /^service\/catalog\/provider-costs\.json: cost of \S+ .*: checked_at must be a date, such as 2027-05-21; it is "yesterday"\.$/,
    );
  });

  it('A catalog is refused with the name of a missing file', () => {
    expect(() => readCatalog(path.join(folder, 'none'))).toThrow(
      /^service\/catalog\/models\.json: cannot be read \(ENOENT.*\)\.$/,
    );
  });
});

describe('a command with wrong input', () => {
  const copy = path.join(folder, 'copy');
  const rooms =
    'admin bin client docs functions lab lib local portal service start statemachines ' +
    'cdk.json package.json package-lock.json';

  async function run(...args: string[]) {
    return new Promise<{ code: unknown; output: string }>((resolve) => {
      execFile(process.execPath, args, { cwd: copy }, (error, stdout, stderr) =>
        resolve({ code: error?.code ?? 0, output: `${stdout}${stderr}` }),
      );
    });
  }

  beforeAll(() => {
    mkdirSync(path.join(copy, 'node_modules'), { recursive: true });
    for (const room of rooms.split(' '))
      cpSync(path.join(root, room), path.join(copy, room), { recursive: true });
    // The copy links to the packages and has a cache of its own.
    for (const name of readdirSync(path.join(root, 'node_modules')).filter((one) => !one.startsWith('.'))) {
      symlinkSync(path.join(root, 'node_modules', name), path.join(copy, 'node_modules', name), 'junction');
    }
  });

  const notJson = /^service\/catalog\/models\.json: is not JSON \(.*\)\.$/;
  // Each command prints the sentence of the error, whichever it is: the tests above have all sentences.
  it.each<[string, string[], string, string | RegExp]>([
    ['npx cdk synth', ['bin/darkroom.ts'], '{', notJson],
    ['npm start', ['bin/local.ts', '--port', '0', '--data', path.join(copy, 'data')], '{', notJson],
    ['npm run admin', ['bin/admin.ts', 'catalog', 'check'], withSunset, sunsetSentence],
  ])(
    'The command %s says what is wrong in the catalog, without a stack trace',
    async (_name, args, text, said) => {
      const file = path.join(copy, 'service', 'catalog', 'models.json');
      writeFileSync(file, text);
      const { code, output } = await run(...args);
      writeFileSync(file, goodModels);
      expect(code).not.toBe(0);
      expect(output.trimEnd().split('\n').at(-1)).toEqual(
        typeof said === 'string' ? said : expect.stringMatching(said),
      );
      expect(output).not.toMatch(/ZodError|\n {4}at /);
    },
  );

  it.each([
    [
      'a field that does not exist',
      'export default { resultdays: 3 };',
      'lib/config/default.ts: resultdays: there is no such setting',
    ],
    [
      'no default export',
      'export const settings = {};',
      'lib/config/default.ts: settings: must be an object of settings (is missing)',
    ],
    ['text that is not TypeScript', 'export default {', 'lib/config/default.ts: cannot be loaded ('],
  ])(
    'The command npx cdk synth names %s in the settings, without a stack trace',
    async (_what, text, sentence) => {
      writeFileSync(path.join(copy, 'lib', 'config', 'default.ts'), text);
      const { code, output } = await run('bin/darkroom.ts');
      expect(code).not.toBe(0);
      expect(output).toContain(sentence);
      expect(output).not.toMatch(/\n {4}at /);
    },
  );
});
