/** A bundle holds the version of each client of the AWS SDK, and nothing else of the client's package.json. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { withoutPackageFiles } from '../../lib/bundling/package-files.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const file = 'node_modules/@aws-sdk/client-sfn/package.json';
const json = readFileSync(`${root}/${file}`, 'utf8');

function bundled(): string {
  const contents = `import info from './${file}'; console.log(info.version);`;
  const { outputFiles } = buildSync({
    stdin: { contents, resolveDir: root },
    bundle: true,
    minify: true,
    target: 'node24',
    format: 'esm',
    write: false,
  });
  return outputFiles[0]?.text ?? '';
}

describe('a bundle with a client of the AWS SDK', () => {
  it('The bundle keeps the version and drops the rest of the package file', () => {
    const text = bundled();
    expect(text).toContain('typesVersions');
    const slim = withoutPackageFiles(text, [file], root);
    expect(slim).not.toContain('typesVersions');
    expect(slim).toMatch(/^var (\w+)=\{version:"\d+\.\d+\.\d+"\};console\.log\(\1\.version\);\n$/);
    expect(slim).toContain(/"version": "([^"]+)"/.exec(json)?.[1]);
  });

  it('Other package files and other inputs stay as they are', () => {
    const text = bundled();
    const inputs = ['node_modules/zod/package.json', 'functions/refund.ts'];
    expect(withoutPackageFiles(text, inputs, root)).toBe(text);
  });

  it('A package file that is not in the text as esbuild prints it is an error', () => {
    expect(() => withoutPackageFiles('x', [file], root)).toThrow(`${file} is not once in the bundle`);
  });
});
