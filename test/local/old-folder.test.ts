import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startOneMachine } from '../../local/one-machine.ts';
import { temporaryFolder } from './machine-fixture.ts';

it('A start refuses the folder of an earlier release with one sentence, and writes nothing to it', async () => {
  const { folder, remove } = temporaryFolder();
  onTestFinished(remove);
  const tables = path.join(folder, 'tables');
  mkdirSync(tables);
  writeFileSync(path.join(tables, 'CURRENT'), 'MANIFEST-000002\n');
  const start = startOneMachine({
    templatePath: path.join(folder, 'no-template.json'),
    folder,
    verifyWebhook: () => Promise.resolve({ verified: false, detail: '' }),
  });
  await expect(start).rejects.toMatchObject({
    name: 'FolderRefused',
    code: 'FOLDER_UNUSABLE',
    message: `The tables in ${tables} are of an earlier release, which kept them in LevelDB: start on a new folder (--data), or go on with the release that wrote them.`,
  });
  expect([readdirSync(folder), readdirSync(tables)]).toEqual([['tables'], ['CURRENT']]);
});
