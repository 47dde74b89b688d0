/**
 * Writes the declarations of the package, one file at a time and without a program: `isolatedDeclarations`
 * (client/tsconfig.json) makes sure that each file says all that its declaration needs.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import ts from 'typescript';

const relativeImport = /(?<=(?:from|import\() ?')(\.{1,2}\/[^']+)\.ts(?=')/g;

/** The declarations of these sources, and of every source that a declaration names. */
export async function writeDeclarations(
  root: string,
  sources: readonly string[],
  outdir: string,
): Promise<void> {
  const open = [...sources];
  const seen = new Set<string>();
  for (let source = open.pop(); source !== undefined; source = open.pop()) {
    if (seen.has(source)) continue;
    seen.add(source);
    const text = declarationOf(source, await readFile(join(root, source), 'utf8'));
    for (const [, imported = ''] of text.matchAll(relativeImport)) {
      open.push(join(dirname(source), `${imported}.ts`));
    }
    const file = join(outdir, source.replace(/\.ts$/, '.d.ts'));
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text.replaceAll(relativeImport, '$1.js'));
  }
}

function declarationOf(source: string, text: string): string {
  const { outputText, diagnostics = [] } = ts.transpileDeclaration(text, {
    fileName: source,
    reportDiagnostics: true,
    compilerOptions: { isolatedDeclarations: true, declaration: true, stripInternal: true },
  });
  const [first] = diagnostics;
  if (first) throw new Error(`${source}: ${ts.flattenDiagnosticMessageText(first.messageText, '\n')}`);
  return outputText;
}
