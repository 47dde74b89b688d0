/** The types of the export `darkroom/cdk`. They name no type of zod, which is in the bundle and nowhere else. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = fileURLToPath(new URL('../../', import.meta.url));
const construct = join(root, 'lib/darkroom.ts');
const settingsFile = join(root, 'lib/settings.ts');
const options: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2024,
  module: ts.ModuleKind.NodeNext,
  strict: true,
  exactOptionalPropertyTypes: true,
  allowImportingTsExtensions: true,
  resolveJsonModule: true,
  skipLibCheck: true,
  noEmit: true,
  types: ['node'],
};

/** The declarations of lib/darkroom.ts, and each setting with its comment. */
export function constructTypes(): string {
  const { outputText } = ts.transpileDeclaration(readFileSync(construct, 'utf8'), {
    fileName: construct,
    compilerOptions: { ...options, noEmit: false, isolatedDeclarations: true },
  });
  const ownImports = /^import .*'\.\.?\/.*\n/gm;
  return `${outputText.replace(ownImports, '')}\n${settingsType()}`;
}

function settingsType(): string {
  const program = ts.createProgram([settingsFile], options);
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(settingsFile);
  const module = source && checker.getSymbolAtLocation(source);
  const input = module && checker.getExportsOfModule(module).find(({ name }) => name === 'SettingsInput');
  if (!input) throw new Error('lib/settings.ts exports no SettingsInput');
  const { NoTruncation, InTypeAlias } = ts.TypeFormatFlags;
  const settings = checker.getDeclaredTypeOfSymbol(input).getProperties();
  const members = settings.map((setting) => {
    const type = checker.typeToString(
      checker.getTypeOfSymbol(setting),
      undefined,
      NoTruncation | InTypeAlias,
    );
    const comment = ts.displayPartsToString(setting.getDocumentationComment(checker)).replaceAll('\n', ' ');
    return `    /** ${comment} */\n    ${setting.name}?: ${type};\n`;
  });
  return `/** Settings that differ from their defaults. */\nexport interface SettingsInput {\n${members.join('')}}\n`;
}
