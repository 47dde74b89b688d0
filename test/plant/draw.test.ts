/** The random draw of small bugs. */
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { bugsOf, dice, jsonSource, openProject, plantedIn, type Bug } from '../../tools/plant/draw.ts';
import { definitionKinds, kinds } from '../../tools/plant/kinds.ts';

/** A program with at least one place for each kind of bug. Every name is declared with its type. */
const sample = `
declare function send(first: number, second: number): Promise<void>;
declare const a: number, b: number;
declare const maybe: number | undefined;
export async function sampled(isNew: boolean): Promise<number> {
  if (!isNew && a < b) await send(a, b);
  const list = [a, b];
  const named = { left: list[0] ?? 0, text: 'name', flag: true };
  if (/^x$/.test(named.text)) throw new Error('a text for people');
  return isNew ? Math.min(1, maybe ?? 2) : Math.ceil(a);
}
`;

const definition =
  '{"States":{"One":{"Retry":[{"ErrorEquals":["A","B"],"MaxAttempts":3}],"Catch":[{"ErrorEquals":["C"]}]}}}';

/** All bugs of the sample. The kinds see the types that the compiler gives them. */
const sampled: readonly Bug[] = (() => {
  const options: ts.CompilerOptions = { target: ts.ScriptTarget.ES2024, strict: true, types: [] };
  const source = ts.createSourceFile('sample.ts', sample, ts.ScriptTarget.ES2024, true);
  const host = ts.createCompilerHost(options, true);
  const read = host.getSourceFile.bind(host);
  host.getSourceFile = (name, ...rest) => (name === 'sample.ts' ? source : read(name, ...rest));
  return bugsOf('sample.ts', source, ts.createProgram(['sample.ts'], options, host).getTypeChecker());
})();

const changed = (bugs: readonly Bug[], kind: string): string[] =>
  bugs.filter((bug) => bug.kind === kind).map(({ after }) => after);

describe('the bugs of a TypeScript file', () => {
  it.each(Object.keys(kinds))(
    'the kind "%s" has a place in the sample, and each of its bugs can be parsed',
    (kind) => {
      const planted = sampled.filter((bug) => bug.kind === kind);
      expect(planted.length).toBeGreaterThan(0);
      for (const bug of planted)
        expect(ts.transpileModule(plantedIn(sample, bug), { reportDiagnostics: true }).diagnostics).toEqual(
          [],
        );
    },
  );

  it('each kind changes the code as its name says', () => {
    const bugs = sampled;
    expect(changed(bugs, 'comparison shifted')).toEqual(['if (!isNew && a <= b) await send(a, b);']);
    expect(changed(bugs, 'not dropped')).toEqual(['if (isNew && a < b) await send(a, b);']);
    expect(changed(bugs, 'arguments exchanged')).toContain('if (!isNew && a < b) await send(b, a);');
    expect(changed(bugs, 'anchor dropped')).toEqual([
      expect.stringContaining('/x$/'),
      expect.stringContaining('/^x/'),
    ]);
    expect(changed(bugs, 'statement dropped')).toEqual(['if (!isNew && a < b) ;']);
    expect(changed(bugs, 'element dropped')).toContain('const list = [b];');
    expect(changed(bugs, 'branches exchanged')).toEqual([
      'return isNew ? Math.ceil(a) : Math.min(1, maybe ?? 2);',
    ]);
  });

  it('no bug changes a text that only people read', () => {
    expect(changed(sampled, 'text changed')).toEqual([
      "const named = { left: list[0] ?? 0, text: 'namex', flag: true };",
    ]);
  });
});

describe('the bugs of a state machine definition', () => {
  it.each(Object.keys(definitionKinds))('the kind "%s" leaves valid JSON', (kind) => {
    const source = jsonSource('creation.asl.json', definition);
    const bugs = bugsOf('creation.asl.json', source).filter((bug) => bug.kind === kind);
    expect(bugs.length).toBeGreaterThan(0);
    for (const bug of bugs)
      expect(JSON.stringify(JSON.parse(plantedIn(definition, bug)))).not.toBe(definition);
  });
});

describe('the draw', () => {
  it('gives the same numbers for the same seed and other numbers for another seed', () => {
    const numbers = (seed: number): number[] => Array.from({ length: 5 }, dice(seed));
    expect(numbers(7)).toEqual(numbers(7));
    expect(numbers(7)).not.toEqual(numbers(8));
  });

  it('gives the same bugs of a project twice, from every folder, and tells which of them compile', () => {
    // The compiler needs ten seconds of CPU time for the whole project, and two of its files are enough here.
    const root = mkdtempSync(join(tmpdir(), 'darkroom-plant-'));
    for (const file of [
      'package.json',
      'tsconfig.json',
      'core/money.ts',
      'statemachines/creation.asl.json',
    ]) {
      cpSync(fileURLToPath(new URL(`../../${file}`, import.meta.url)), join(root, file));
    }
    symlinkSync(fileURLToPath(new URL('../../node_modules', import.meta.url)), join(root, 'node_modules'));
    const project = openProject(root);
    const folders = ['core', 'statemachines'];
    const drawn = (seed: number): string[] =>
      project
        .bugs({ root, seed, folders })
        .slice(0, 300)
        .map(({ file, start, text }) => `${file} ${start} ${text}`);
    expect(drawn(3)).toEqual(drawn(3));
    expect(drawn(3)).not.toEqual(drawn(4));
    expect(new Set(drawn(3).map((place) => place.split('/')[0]))).toEqual(new Set(folders));
    const [bug] = project.bugs({ root, seed: 1, folders: ['core'], only: 'core/money.ts' });
    if (!bug) throw new Error('core/money.ts has no place for a bug');
    expect(project.compiles({ ...bug, start: 0, end: 0, text: 'export const wrong: number = "";' })).toBe(
      false,
    );
    expect(project.compiles({ ...bug, start: 0, end: 0, text: '/* a comment */' })).toBe(true);
    rmSync(root, { recursive: true });
  });
});
