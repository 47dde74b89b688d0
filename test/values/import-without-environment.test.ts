/** Importing a handler reads no environment and builds no client: a function does both at its first event. */
import { execFileSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const files = globSync('functions/*.ts', { cwd: root }).filter((file) => !file.endsWith('/handlers.ts'));

/** Imports every file in a process without variables, and calls the first handler, which needs them. */
const program = `
  const [first, ...others] = process.argv.slice(1);
  for (const file of [first, ...others]) {
    const { handler } = await import(file);
    console.log(typeof handler);
  }
  const { handler } = await import(first);
  await handler({}, {}).catch((error) => console.log(error.message));
`;

describe('the files with handlers', () => {
  it('All files can be imported without a variable, and the first event of a handler asks for one', () => {
    const paths = files.map((file) => `${root}${file}`);
    const out = execFileSync(process.execPath, ['--input-type=module', '--eval', program, '--', ...paths], {
      encoding: 'utf8',
      env: {},
    });
    expect(files.length).toBeGreaterThan(10);
    const expected = [
      ...files.map(() => 'function'),
      expect.stringMatching(/^the environment variable \w+ is not set$/),
    ];
    expect(out.trim().split('\n')).toEqual(expected);
  });
});
