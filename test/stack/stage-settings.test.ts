/** A stage, and the file in config/ that has its settings. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseSettings, SettingsError } from '../../lib/settings.ts';
import { defaultStage, settingsOf, stackOf } from '../../lib/stage-settings.ts';

describe('the stack of a stage', () => {
  it('The stack has the name of its stage, and only the stack of the stage dev may be deleted', () => {
    expect(stackOf(defaultStage)).toEqual({ stackName: 'Darkroom', terminationProtection: true });
    expect(stackOf('prod')).toEqual({ stackName: 'Darkroom-prod', terminationProtection: true });
    expect(stackOf('dev')).toEqual({ stackName: 'Darkroom-dev', terminationProtection: false });
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
      new SettingsError('config/empty.ts: settings: must be an object of settings (is missing)'),
    );
  });

  it('A stage whose settings are wrong is refused with the name of its file', async () => {
    await expect(settingsOf('wrong', folder)).rejects.toThrow(
      new SettingsError('config/wrong.ts: resultDays: must be a whole number from 1 to 3650 (is 0)'),
    );
  });

  it.each([
    ['broken', 'no such module', new Error('no such module')],
    ['text', 'no error', 'no error'],
  ])('The stage %s, whose file cannot be loaded, is refused with the reason', async (stage, why, cause) => {
    const refused = await settingsOf(stage, folder).catch((error: unknown) => error);
    expect(refused).toEqual(new SettingsError(`config/${stage}.ts: cannot be loaded (${why})`));
    expect(refused).toMatchObject({ name: 'SettingsError', cause });
  });

  it.each([
    ['nowhere', 'stage: there is no config/nowhere.ts; copy config/default.ts to begin with'],
    [
      '../lib/settings',
      'stage: "../lib/settings" must be a name of small letters, digits and hyphens, 30 at most',
    ],
    ['', 'stage: "" must be a name of small letters, digits and hyphens, 30 at most'],
    ['9', 'stage: "9" must be a name of small letters, digits and hyphens, 30 at most'],
    ['Default', 'stage: "Default" must be a name of small letters, digits and hyphens, 30 at most'],
    ['default\n', 'stage: "default\\n" must be a name of small letters, digits and hyphens, 30 at most'],
    [
      'a'.repeat(31),
      `stage: "${'a'.repeat(31)}" must be a name of small letters, digits and hyphens, 30 at most`,
    ],
    ['a'.repeat(30), `stage: there is no config/${'a'.repeat(30)}.ts; copy config/default.ts to begin with`],
    ['x', 'stage: there is no config/x.ts; copy config/default.ts to begin with'],
  ])('The stage %s is refused in one line', async (stage, line) => {
    await expect(settingsOf(stage)).rejects.toThrow(new SettingsError(line));
  });

  it('The stage default has a file that leaves every setting at its default', async () => {
    expect(defaultStage).toBe('default');
    expect(await settingsOf(defaultStage)).toEqual(parseSettings('config/default.ts', {}));
  });
});
