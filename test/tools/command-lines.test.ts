/** The commands of contributors, as processes: what they say of an option that does not exist. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { root } from '../docs/pages.ts';

const run = promisify(execFile);

it.each([
  'audit-bench',
  'bundles',
  'client-bench',
  'cost',
  'machine',
  'memory',
  'plant',
  'preflight',
  'sam',
  'simulate',
  'vendors',
])('bin/%s.ts names an option that does not exist in one sentence, and does nothing', async (name) => {
  const running = run(process.execPath, [`bin/${name}.ts`, '--nonsense'], { cwd: root });
  await expect(running).rejects.toMatchObject({
    code: 1,
    stdout: '',
    stderr: "error: unknown option '--nonsense'\n",
  });
});
