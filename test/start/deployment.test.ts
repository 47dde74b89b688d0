/** AWS without a clone: what the package synthesizes, deploys, and brings into an app of others. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makePackage } from '../../start/packaging/package.ts';
import { readPage } from '../docs/pages.ts';
import { fullSettings } from '../stack/full-settings.ts';
import { templatePath } from '../stack/template.ts';
import { type Account, startAccount } from './account.ts';

interface Resource {
  readonly Type: string;
  readonly Metadata?: object;
  readonly Properties?: { readonly Code?: { readonly S3Key?: string } };
}

interface Document {
  readonly Resources: Readonly<Record<string, Resource>>;
}

const root = resolve(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'darkroom-deployment-'));
/** An app of others, with the package installed. */
const app = join(folder, 'app');
const installed = join(app, 'node_modules/darkroom');
const cache = join(folder, 'cache');
const environment = { PATH: process.env['PATH'], HOME: folder, TMPDIR: folder, XDG_CACHE_HOME: cache };

const run = async (...args: readonly string[]) =>
  promisify(execFile)(process.execPath, args, { cwd: app, env: environment });
const darkroom = async (...args: readonly string[]) => run(join(installed, 'darkroom.js'), ...args);

const read = (...path: readonly string[]): Document =>
  JSON.parse(readFileSync(join(...path), 'utf8')) as Document;

/** Without the path of each asset on its way to AWS. */
const deployed = ({ Resources, ...rest }: Document): object => ({
  ...rest,
  Resources: Object.fromEntries(
    Object.entries(Resources).map(([id, { Metadata: _paths, ...resource }]) => [id, resource]),
  ),
});

const bundlesOf = ({ Resources }: Document): string[] =>
  Object.values(Resources).flatMap(({ Properties }) => Properties?.Code?.S3Key ?? []);

beforeAll(async () => {
  await makePackage(installed, () => undefined);
  // What `npm install` and the first deployment fetch, in the same versions.
  for (const name of ['aws-cdk-lib', 'constructs', 'typescript', '@types'])
    symlinkSync(join(root, 'node_modules', name), join(app, 'node_modules', name));
  const lock = readFileSync(join(installed, 'cdk/toolchain.json'));
  const toolchain = `cdk-${createHash('sha256').update(lock).digest('hex').slice(0, 16)}`;
  mkdirSync(join(cache, 'darkroom', toolchain), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(cache, 'darkroom', toolchain, 'node_modules'));
  writeFileSync(join(app, 'every.json'), JSON.stringify(fullSettings));
  // As the template of the clone: it takes payments, and has the keys of results.
  writeFileSync(join(app, 'paying.json'), JSON.stringify({ payments: { stripe: {} }, resultKeys: true }));
  writeFileSync(join(app, 'wrong.json'), '{ "resultDays": 0, "pictures": 1 }');
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('darkroom synth', () => {
  it('The package gives the template of the clone, so a stack that changes to the package changes nothing', async () => {
    await darkroom('synth', '--stack', 'Darkroom', '--settings', 'paying.json', '--out', 'out');
    expect(deployed(read(app, 'out/Darkroom.template.json'))).toEqual(deployed(read(templatePath)));
  }, 60_000);

  it('Every setting has an effect in the package, and every function has its bundle', async () => {
    await darkroom('synth', '--stack', 'Shop', '--settings', 'every.json', '--out', 'every');
    const { Resources } = read(app, 'every/Shop.template.json');
    expect(Object.keys(Resources).filter((id) => id.startsWith('Canary'))).not.toEqual([]);
    const assets = JSON.parse(readFileSync(join(app, 'every/Shop.assets.json'), 'utf8')) as {
      files: Record<string, { source: { path: string; packaging: string } }>;
    };
    for (const { source } of Object.values(assets.files).filter(
      ({ source: { packaging } }) => packaging === 'zip',
    ))
      expect(readFileSync(join(app, 'every', source.path, 'index.mjs'), 'utf8')).toContain('handler');
  }, 60_000);

  it('Wrong settings are refused with a line for each, before anything is installed', async () => {
    const refused = darkroom('synth', '--stack', 'Darkroom', '--settings', 'wrong.json', '--out', 'no');
    await expect(refused).rejects.toMatchObject({
      code: 1,
      stderr:
        'wrong.json: resultDays: must be a whole number from 1 to 3650 (is 0)\nwrong.json: pictures: there is no such setting\n',
    });
  });

  it('The toolchain has the versions of the repository, and each package that it needs', () => {
    const { packages } = JSON.parse(readFileSync(join(installed, 'cdk/toolchain.json'), 'utf8')) as {
      packages: Record<string, { version: string; dependencies?: Record<string, string> }>;
    };
    const installedVersions = Object.entries(packages).filter(([path]) => path !== '');
    for (const [path, { version }] of installedVersions)
      expect([path, version]).toEqual([
        path,
        (JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8')) as { version: string }).version,
      ]);
    const needed = Object.values(packages).flatMap(({ dependencies }) => Object.keys(dependencies ?? {}));
    for (const name of needed)
      expect(
        installedVersions.some(([path]) => path.endsWith(`node_modules/${name}`)),
        name,
      ).toBe(true);
  });
});

describe('darkroom deploy', () => {
  let account: Account;
  beforeAll(async () => {
    account = await startAccount();
  });
  afterAll(() => account.end());

  it('A first deployment uploads every bundle and the template, protects the stack, and prints the outputs', async () => {
    const aws = {
      AWS_ENDPOINT_URL: account.url,
      AWS_ACCESS_KEY_ID: 'key',
      AWS_SECRET_ACCESS_KEY: 'secret',
      AWS_REGION: 'eu-west-1',
      CI: 'true',
    };
    const program = join(installed, 'darkroom.js');
    const { stdout } = await promisify(execFile)(
      process.execPath,
      `${program} deploy --stack Darkroom --settings paying.json -- --require-approval never`.split(' '),
      { cwd: app, env: { ...environment, ...aws } },
    );
    expect(stdout).toContain('Darkroom.ApiUrl = https://api.example.com/api/public/v1');
    const [create, protection] = account.changes;
    expect(create?.get('StackName')).toBe('Darkroom');
    expect(protection?.get('EnableTerminationProtection')).toBe('true');
    const template = [...account.objects].find(([name]) => name.endsWith('.json'))?.[1];
    const sent = JSON.parse(String(template)) as Document;
    expect(deployed(sent)).toEqual(deployed(read(templatePath)));
    for (const bundle of bundlesOf(sent))
      expect(account.objects.get(bundle)?.subarray(0, 2).toString(), bundle).toBe('PK');
  }, 60_000);
});

describe('the construct of the package', () => {
  const example = readPage('docs/deploying.md').blocks.find(({ example: name }) => name === 'construct');

  it('The example of the page synthesizes two stacks, with the bundles of the clone', async () => {
    writeFileSync(join(app, 'app.mjs'), example?.text ?? '');
    await promisify(execFile)(process.execPath, ['app.mjs'], {
      cwd: app,
      env: { ...environment, CDK_OUTDIR: join(app, 'foreign') },
    });
    const [shop, drafts] = ['Shop', 'Drafts'].map((name) => read(app, `foreign/${name}.template.json`));
    // The example takes no payments.
    const { Resources } = read(templatePath);
    const byDefault = Object.entries(Resources).filter(
      ([id]) => !/^(ReceivePayment|FollowPayments|PortalPay)/.test(id),
    );
    const own = [...new Set(bundlesOf({ Resources: Object.fromEntries(byDefault) }))].sort();
    for (const foreign of [shop, drafts])
      expect([...new Set(foreign && bundlesOf(foreign))].sort()).toEqual(own);
    expect(own.length).toBeGreaterThan(20);
    expect(example?.text.trim().split('\n').length).toBeLessThanOrEqual(20);
  }, 60_000);

  it('The types of the package accept the example, and refuse a setting that does not exist', async () => {
    const check = async (text: string) => {
      writeFileSync(join(app, 'app.mts'), text);
      const options =
        '--noEmit --strict --module nodenext --target es2024 --skipLibCheck --types node app.mts';
      return run(join(root, 'node_modules/typescript/bin/tsc'), ...options.split(' '));
    };
    await check(example?.text ?? '');
    await expect(check((example?.text ?? '').replace('resultDays: 7', 'resultDay: 7'))).rejects.toMatchObject(
      {
        stdout: expect.stringContaining("'resultDay' does not exist in type 'SettingsInput'") as string,
      },
    );
  }, 60_000);

  it('The package names no other package, so that npm asks no registry about one', () => {
    const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as object;
    expect(Object.keys(manifest).filter((name) => /dependencies/i.test(name))).toEqual([]);
  });
});
