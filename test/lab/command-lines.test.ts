/** The commands of contributors, as processes: what they say of an option that does not exist. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { root } from '../docs/pages.ts';

const run = promisify(execFile);

it.each([
  'cost',
  'lab bundles',
  'lab clients',
  'lab memory',
  'lab sam',
  'lab vendors',
  'preflight',
  'simulate',
])('%s names an option that does not exist in one sentence, and does nothing', async (command) => {
  const [program, ...names] = command.split(' ');
  const running = run(process.execPath, [`bin/${program}.ts`, ...names, '--nonsense'], { cwd: root });
  await expect(running).rejects.toMatchObject({
    code: 1,
    stdout: '',
    stderr: "error: unknown option '--nonsense'\n",
  });
});

it('The lab names its programs when the name is wrong', async () => {
  const running = run(process.execPath, ['bin/lab.ts', 'nonsense'], { cwd: root });
  await expect(running).rejects.toMatchObject({
    code: 1,
    stdout: '',
    stderr:
      'npm run lab -- NAME: "nonsense" is no program of the lab. The names are bundles, clients, memory, sam, vendors.\n',
  });
});

it('npm run check names its checks when a name is wrong', async () => {
  const running = run(process.execPath, ['bin/check.ts', 'nonsense'], { cwd: root });
  await expect(running).rejects.toMatchObject({
    code: 1,
    stdout: '0 passed, 1 failed\n',
    stderr:
      'npm run check -- NAME: "nonsense" is no check. The names are types, lint, imports, format, unused.\n',
  });
});
