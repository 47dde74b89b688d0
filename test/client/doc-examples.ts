/**
 * Runs the examples of docstrings and pages as they stand. What `console.log` prints must be what the comment
 * behind it says.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { transform } from 'esbuild';
import * as client from '../../client/src/index.ts';
import { type Block, readPage, root } from '../docs/pages.ts';

export interface Example {
  /** The file, and the name or number of the example in it. */
  readonly name: string;
  readonly code: string;
  /** What the example may use without an import. A reader pastes the block of a page, so such a block has none. */
  readonly sees?: Readonly<Record<string, unknown>>;
}

const inDocstring = /@example\n((?: *\*.*\n)*?) *\* ```ts\n((?: *\*.*\n)*?) *\* ```\n/g;

/** The examples of all docstrings of a folder of sources. */
export function docstringExamples(folder: string): Example[] {
  const files = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
  return files
    .filter((file) => file.endsWith('.ts'))
    .toSorted()
    .flatMap((file) => {
      const text = readFileSync(join(root, folder, file), 'utf8');
      return [...text.matchAll(inDocstring)].map(([, , code = ''], index) => ({
        name: `${file} ${index + 1}`,
        sees: client,
        code: code.replace(/^ *\* ?/gm, ''),
      }));
    });
}

/** The examples of a page in their order, with their languages. */
export function pageExamples(path: string): (Example & Pick<Block, 'language'>)[] {
  return readPage(path).blocks.flatMap(({ example, language, text }) =>
    example === undefined ? [] : [{ name: example, language, code: text }],
  );
}

export interface Ran {
  /** What the example exports. */
  readonly exported: Readonly<Record<string, unknown>>;
  readonly printed: readonly string[];
  /** What the comments behind console.log say. */
  readonly promised: readonly string[];
}

export interface Surroundings {
  readonly darkroom: client.Darkroom;
  /** Texts of the example, and what stands for them in the test: a file, or a model that costs nothing. */
  readonly replaced?: Readonly<Record<string, string>>;
  /** Other names that the example may use. */
  readonly names?: Readonly<Record<string, unknown>>;
}

const exportedName = /^export ((?:async )?(?:function|const)) (\w+)/gm;
const namedImport = /^import (\{[^}]*\}) from ([^;]+);$/gm;
const defaultImport = /^import (\w+) from ([^;]+);$/gm;
/** An import that the example does not use is kept, since it may be an error of the page. */
const tsconfigRaw = { compilerOptions: { verbatimModuleSyntax: true } };

/** Runs an example. It sees `darkroom`, and imports what it says. */
export async function runExample(
  { code, sees }: Example,
  { darkroom, replaced = {}, names = {} }: Surroundings,
): Promise<Ran> {
  const promised = [...code.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)].map(([, said = '']) => said);
  const replacedCode = Object.entries(replaced).reduce((text, [from, to]) => text.replaceAll(from, to), code);
  const { code: plain } = await transform(replacedCode, {
    loader: 'ts',
    target: 'es2023',
    tsconfigRaw,
  });
  const body = plain
    .replace(
      namedImport,
      (_, names: string, from: string) =>
        `const ${names.replaceAll(' as ', ': ')} = await importOf(${from});`,
    )
    .replace(defaultImport, 'const { default: $1 } = await importOf($2);')
    .replace(exportedName, '$1 $2');
  const exportedNames = [...plain.matchAll(exportedName)].map(([, , name = '']) => name);
  const printed: string[] = [];
  const scope: Record<string, unknown> = {
    ...sees,
    darkroom,
    console: {
      log: (...values: unknown[]) => printed.push(values.map(String).join(' ')),
      error: () => undefined,
    },
    importOf: async (name: string): Promise<unknown> => (name === 'darkroom-client' ? client : import(name)),
    ...names,
  };
  const program = `{${body}\nreturn { ${exportedNames.join(', ')} };\n}`;
  const exported = await compiled(Object.keys(scope), program)(...Object.values(scope));
  return { exported, printed, promised };
}

type AsyncProgram = (...values: readonly unknown[]) => Promise<Record<string, unknown>>;

/** The example is the body of an async function. It stands in a block of its own, so that it may redeclare a name. */
function compiled(names: readonly string[], program: string): AsyncProgram {
  const AsyncFunction = (async () => Promise.resolve()).constructor as new (
    ...parts: string[]
  ) => AsyncProgram;
  return new AsyncFunction(...names, program);
}
