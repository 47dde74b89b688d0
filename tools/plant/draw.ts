/**
 * Draws small bugs at random. Every possible bug has the same chance, and the same seed draws the same bugs.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { definitionKinds, kinds, type Edit } from './kinds.ts';

export interface Bug extends Edit {
  /** The path below the root of the project. */
  readonly file: string;
  readonly line: number;
  readonly kind: string;
  /** The whole line without the bug, and the whole line with the bug. */
  readonly before: string;
  readonly after: string;
}

/** The text of the file with the bug in it. */
export const plantedIn = (text: string, { start, end, text: planted }: Edit): string =>
  text.slice(0, start) + planted + text.slice(end);

export interface Drawing {
  readonly root: string;
  readonly seed: number;
  readonly folders: readonly string[];
  /** Bugs are drawn only from files whose path ends with this text. */
  readonly only?: string | undefined;
}

/** The folders in which bugs are planted, unless the command line names others. */
export const plantingFolders = ['core', 'functions', 'adapters', 'lib', 'statemachines'];
/** No bug is planted in the painter of the sandbox: a slightly different picture is no wrong picture. */
const leftOut = /\.d\.ts$|^adapters\/providers\/sandbox\/picture\/|^lib\/bundling\/stand-ins\//;

/** Random numbers from 0 up to 1, below 1 (the generator mulberry32). */
export function dice(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** All possible bugs of one file, in the order of their positions. */
export function bugsOf(file: string, source: ts.SourceFile, types?: ts.TypeChecker): Bug[] {
  const bugs: Bug[] = [];
  const { text } = source;
  const visit = (node: ts.Node): void => {
    for (const [kind, edits] of Object.entries(file.endsWith('.json') ? definitionKinds : kinds)) {
      for (const { start, end, text: planted } of edits(node, { source, types })) {
        const [head, tail] = [
          text.slice(text.lastIndexOf('\n', start - 1) + 1, start),
          text.slice(end).split('\n', 1)[0] ?? '',
        ];
        const [before, after] = [head + text.slice(start, end) + tail, head + planted + tail];
        bugs.push({
          file,
          kind,
          start,
          end,
          text: planted,
          line: source.getLineAndCharacterOfPosition(start).line + 1,
          before: before.trim(),
          after: after.trim(),
        });
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return bugs;
}

/**
 * Opens the files and types of the project in this process, so that the check of a bug does not start the
 * compiler again.
 */
export function openProject(root: string): {
  readonly bugs: (drawing: Drawing) => Bug[];
  readonly compiles: (bug: Bug) => boolean;
} {
  const config = ts.getParsedCommandLineOfConfigFile(
    join(root, 'tsconfig.json'),
    { noEmit: true, incremental: false },
    { ...ts.sys, onUnRecoverableConfigFileDiagnostic: () => undefined },
  );
  if (!config) throw new Error('tsconfig.json cannot be read');
  const planted = new Map<string, { version: number; text: string | undefined }>();
  const service = ts.createLanguageService({
    getCompilationSettings: () => config.options,
    getScriptFileNames: () => config.fileNames,
    getScriptVersion: (name) => String(planted.get(name)?.version ?? 0),
    getScriptSnapshot: (name) => {
      const text = planted.get(name)?.text ?? ts.sys.readFile(name);
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
    },
    getCurrentDirectory: () => root,
    getDefaultLibFileName: (options) => ts.getDefaultLibFilePath(options),
    fileExists: (name) => ts.sys.fileExists(name),
    readFile: (name) => ts.sys.readFile(name),
    directoryExists: (name) => ts.sys.directoryExists(name),
    getDirectories: (name) => ts.sys.getDirectories(name),
  });

  const importers = new Map<string, string[]>();
  for (const name of config.fileNames) {
    for (const { fileName } of ts.preProcessFile(readFileSync(name, 'utf8')).importedFiles) {
      const path = join(name, '..', fileName);
      if (fileName.startsWith('.')) importers.set(path, [...(importers.get(path) ?? []), name]);
    }
  }
  const set = (path: string, text: string | undefined): void =>
    void planted.set(path, { version: (planted.get(path)?.version ?? 0) + 1, text });
  const isClean = (path: string): boolean =>
    service.getSyntacticDiagnostics(path).length === 0 && service.getSemanticDiagnostics(path).length === 0;

  return {
    bugs: ({ seed, folders, only }) => {
      const program = service.getProgram();
      const files = folders.flatMap((folder) => globSync(`${folder}/**/*.{ts,json}`, { cwd: root })).sort();
      const wanted = files.filter(
        (file) => !leftOut.test(file) && (only === undefined || file.endsWith(only)),
      );
      const all = wanted.flatMap((file) => {
        const path = join(root, file);
        const source = file.endsWith('.json') ? jsonSource(path) : program?.getSourceFile(path);
        return source ? bugsOf(file, source, program?.getTypeChecker()) : [];
      });
      return shuffled(all, dice(seed));
    },
    // A changed type shows as an error in the file itself or in a file that imports it.
    compiles: (bug) => {
      const path = join(root, bug.file);
      if (bug.file.endsWith('.json')) return true;
      set(path, plantedIn(readFileSync(path, 'utf8'), bug));
      try {
        return [path, ...(importers.get(path) ?? [])].every(isClean);
      } finally {
        set(path, undefined);
      }
    },
  };
}

function shuffled<Thing>(things: readonly Thing[], random: () => number): Thing[] {
  return things
    .map((thing) => ({ thing, at: random() }))
    .sort((left, right) => left.at - right.at)
    .map(({ thing }) => thing);
}

/** A JSON file as a syntax tree whose nodes know their parents, which ts.parseJsonText does not give. */
export function jsonSource(path: string, text = readFileSync(path, 'utf8')): ts.SourceFile {
  return ts.createSourceFile(path, text, ts.ScriptTarget.JSON, true, ts.ScriptKind.JSON);
}
