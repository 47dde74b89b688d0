/** What SAM's command line asks of a template that CDK has synthesized, and what is prepared for it. */
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sampleEvents } from '../../lab/sam/events.ts';
import { awsVariables, samNames, samTemplate, samVariables, type Template } from '../../lab/sam/command.ts';
import {
  defaultStage,
  parseSettings,
  SettingsError,
  settingsIn,
  settingsOf,
  stackNamed,
  stackOf,
} from '../../lib/settings.ts';
import { functionOf, type Operation, operations } from '../../service/contract/operations.ts';
import { resolved, templatePath } from './template.ts';

const template = JSON.parse(readFileSync(templatePath, 'utf8')) as Template;

const prepared = samTemplate(template, templatePath);

const functionsOf = ({ Resources }: Template): [string, Template['Resources'][string]][] =>
  Object.entries(Resources).filter(([, { Type }]) => Type === 'AWS::Lambda::Function');

const names = samNames(template);

const variables = samVariables(resolved.functions, names, {
  awsUrl: 'http://127.0.0.1:4566',
  environment: { OUTBOUND_RULES: 'loopback-too', NOBODYS: 'x' },
});

/** The first operation of each function has the sample of the function. */
const firstOfEachFunction = new Map<string, Operation>(
  Object.values(operations)
    .toReversed()
    .map((operation) => [functionOf(operation), operation]),
);

describe('the template', () => {
  it('The template is one flat stack whose functions each have a name for SAM, the name of their construct', () => {
    expect(Object.values(template.Resources).map(({ Type }) => Type)).not.toContain(
      'AWS::CloudFormation::Stack',
    );
    for (const [id, { Metadata: metadata }] of functionsOf(template))
      expect(id.startsWith(String(metadata?.['SamResourceId']))).toBe(true);
    expect(new Set(names.values()).size).toBe(functionsOf(template).length);
  });
});

describe('what is prepared for SAM', () => {
  it('The template for SAM names each bundle by its absolute path', () => {
    for (const [id, { Metadata: metadata }] of functionsOf(prepared)) {
      const path = String(metadata?.['aws:asset:path']);
      expect(isAbsolute(path) && existsSync(join(path, 'index.mjs')), id).toBe(true);
    }
  });

  it('The variables for SAM include every variable that the template declares, and no other, since SAM would drop it', () => {
    for (const [id, { Properties: properties }] of functionsOf(prepared)) {
      const environment = properties?.['Environment'] as { Variables: Record<string, unknown> } | undefined;
      expect(Object.keys(variables[names.get(id) ?? ''] ?? {}).sort(), id).toEqual(
        Object.keys(environment?.Variables ?? { none: id }).sort(),
      );
    }
  });

  it('The variables for SAM point each function at the local service, under the name of its role', () => {
    for (const { id, roleId } of resolved.functions) {
      expect(variables[names.get(id) ?? '']).toMatchObject({
        AWS_ENDPOINT_URL: 'http://127.0.0.1:4566',
        AWS_ACCESS_KEY_ID: roleId,
      });
    }
  });

  it("The variables for SAM have the local service's own values where it has some", () => {
    expect(variables['DeliverWebhook']).toMatchObject({ OUTBOUND_RULES: 'loopback-too' });
    for (const values of Object.values(variables)) expect(values).not.toHaveProperty('NOBODYS');
  });

  it('The variables for SAM are values alone, because SAM makes an unresolved reference an empty text', () => {
    for (const values of Object.values(variables))
      for (const value of Object.values(values)) expect(value).not.toMatch(/\$\{|Fn::|\[object/);
  });

  it('The template for SAM has no other change', () => {
    const undone = structuredClone(prepared) as {
      Resources: Record<
        string,
        {
          Properties?: { Environment?: { Variables: Record<string, unknown> } };
          Metadata?: Record<string, unknown>;
        }
      >;
    };
    for (const [id] of functionsOf(template)) {
      const { Environment: environment } = undone.Resources[id]?.Properties ?? {};
      for (const name of awsVariables) delete environment?.Variables[name];
      Object.assign(undone.Resources[id]?.Metadata ?? {}, {
        'aws:asset:path': template.Resources[id]?.Metadata?.['aws:asset:path'],
      });
    }
    expect(undone).toEqual(template);
  });

  it('The events for SAM have a sample for every function but that of unknown routes', () => {
    expect(Object.keys(sampleEvents('dk_live_x')).sort()).toEqual(
      [...names.values()].filter((name) => name !== 'UnknownRoute').sort(),
    );
    const events = sampleEvents('dk_live_x') as Record<
      string,
      { routeKey?: string; requestContext?: { path?: string }; headers?: Record<string, string> }
    >;
    expect(events['OpenaiImages']?.requestContext?.path).toBe('/openai/v1/images/generations');
    expect(events['Mcp']?.requestContext?.path).toBe('/mcp');
    for (const [name, { method, path }] of firstOfEachFunction) {
      const event = events[name];
      expect(event?.routeKey).toBe(`${method} /api/public/v1${path}`);
      expect(event?.headers?.['authorization']).toBe('Bearer dk_live_x');
    }
  });
});

/** A stage, and the file in lib/config/ that has its settings. */
describe('the stack of a stage', () => {
  it('The stack has the name of its stage, and only the stack of the stage dev may be deleted', () => {
    expect(stackOf(defaultStage)).toEqual({ stackName: 'Darkroom', terminationProtection: true });
    expect(stackOf('prod')).toEqual({ stackName: 'Darkroom-prod', terminationProtection: true });
    expect(stackOf('dev')).toEqual({ stackName: 'Darkroom-dev', terminationProtection: false });
  });
});

describe('a stack that the package deploys', () => {
  it('The stack has the name that the operator gives, and the protection of its stage', () => {
    expect(stackNamed('Shop')).toEqual({ stackName: 'Shop', terminationProtection: true });
    expect(stackNamed('Darkroom-dev').terminationProtection).toBe(false);
  });

  it.each(['', '9lives', 'a b', 'a'.repeat(41), 'Shop\n'])('The name %j is refused in one line', (name) => {
    expect(() => stackNamed(name)).toThrow(
      new SettingsError(
        `stack: ${JSON.stringify(name)} must be a name of letters, digits and hyphens, 40 at most`,
      ),
    );
  });

  it('A file that is missing or no JSON is refused with its name', () => {
    expect(() => settingsIn('no/such.json')).toThrow(/^no\/such\.json: cannot be read \(ENOENT/);
    const file = fileURLToPath(new URL('sam.test.ts', import.meta.url));
    expect(() => settingsIn(file)).toThrow(`${file}: cannot be read (Unexpected token`);
  });
});

describe('a stage', () => {
  let folder: URL;
  beforeAll(async () => {
    folder = pathToFileURL(`${await mkdtemp(join(tmpdir(), 'darkroom-settings-'))}/`);
    const write = async (stage: string, text: string): Promise<void> =>
      writeFile(new URL(`${stage}.ts`, folder), text);
    await write('week', 'export default { resultDays: 7 };');
    await write('wrong', 'export default { resultDays: 0 };');
    await write('empty', 'export const settings = {};');
    await write('broken', "throw new Error('no such module');");
    await write('text', "throw 'no error';");
  });
  afterAll(async () => rm(folder, { recursive: true }));

  it('A stage has the settings that its file exports by default', async () => {
    expect(await settingsOf('week', folder)).toMatchObject({ resultDays: 7, logRetentionDays: 30 });
  });

  it('A stage whose file exports nothing by default is refused', async () => {
    await expect(settingsOf('empty', folder)).rejects.toThrow(
      new SettingsError('lib/config/empty.ts: settings: must be an object of settings (is missing)'),
    );
  });

  it('A stage whose settings are wrong is refused with the name of its file', async () => {
    await expect(settingsOf('wrong', folder)).rejects.toThrow(
      new SettingsError('lib/config/wrong.ts: resultDays: must be a whole number from 1 to 3650 (is 0)'),
    );
  });

  it.each([
    ['broken', 'no such module', new Error('no such module')],
    ['text', 'no error', 'no error'],
  ])('The stage %s, whose file cannot be loaded, is refused with the reason', async (stage, why, cause) => {
    const refused = await settingsOf(stage, folder).catch((error: unknown) => error);
    expect(refused).toEqual(new SettingsError(`lib/config/${stage}.ts: cannot be loaded (${why})`));
    expect(refused).toMatchObject({ name: 'SettingsError', cause });
  });

  it.each([
    ...['../lib/settings', '', '9', 'Default', 'default\n', 'a'.repeat(31)].map((stage) => [
      stage,
      `${JSON.stringify(stage)} must be a name of small letters, digits and hyphens, 30 at most`,
    ]),
    ...['nowhere', 'x', 'a'.repeat(30)].map((stage) => [
      stage,
      `there is no lib/config/${stage}.ts; copy lib/config/default.ts to begin with, or use --stack and --settings`,
    ]),
  ])('The stage %s is refused in one line', async (stage = '', line = '') => {
    await expect(settingsOf(stage)).rejects.toThrow(new SettingsError(`stage: ${line}`));
  });

  it('The stage default has a file that leaves every setting at its default', async () => {
    expect(defaultStage).toBe('default');
    expect(await settingsOf(defaultStage)).toEqual(parseSettings('lib/config/default.ts', {}));
  });
});
