/** Reads pages of the documentation: their blocks of code, headings, links and tables. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../', import.meta.url));

export interface Block {
  /** The first word behind the fence: "json"; empty when there is none. */
  readonly language: string;
  /** The name in `example=NAME` behind the language. */
  readonly example?: string;
  readonly text: string;
}

export interface Page {
  /** Relative to the root: "docs/api.md". */
  readonly path: string;
  readonly text: string;
  /** The text without blocks of code and without code in lines. */
  readonly prose: string;
  readonly blocks: readonly Block[];
  /** The anchors of its headings, as GitHub makes them, and those that the page sets with `<a id="…">`. */
  readonly anchors: readonly string[];
}

const fenced = /^```(\w*)(?: example=([\w-]+))?\n(.*?)^```$/gms;

export function readPage(path: string): Page {
  const text = readFileSync(join(root, path), 'utf8');
  const withoutBlocks = text.replace(fenced, '');
  return {
    path,
    text,
    prose: withoutBlocks.replace(/`[^`\n]*`/g, '``'),
    blocks: [...text.matchAll(fenced)].map(([, language = '', example, block = '']) => ({
      language,
      text: block,
      ...(example !== undefined && { example }),
    })),
    anchors: [...anchorsOf(withoutBlocks), ...setAnchors(withoutBlocks)],
  };
}

/** Every page that is written for a reader: those of the root, of docs/ and of client/examples/. */
export function allPages(): readonly Page[] {
  const under = (folder: string): string[] =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md'))
      .map((name) => join(folder, name));
  return ['README.md', 'CHANGELOG.md', 'SECURITY.md', ...under('docs'), ...under('client/examples')].map(
    readPage,
  );
}

/**
 * GitHub's rule: small letters, no punctuation, hyphens for spaces, and a number behind a repeated heading.
 */
function anchorsOf(text: string): string[] {
  const seen = new Map<string, number>();
  return [...text.matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) => {
    const anchor = heading
      .trim()
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\p{Pc}\- ]/gu, '')
      .replaceAll(' ', '-');
    const repeated = seen.get(anchor) ?? 0;
    seen.set(anchor, repeated + 1);
    return repeated === 0 ? anchor : `${anchor}-${repeated}`;
  });
}

function setAnchors(text: string): string[] {
  return [...text.matchAll(/<a id="([\w-]+)"><\/a>/g)].map(([, anchor = '']) => anchor);
}

/** The targets of the links and pictures in the prose of a page. */
export function linksOf({ prose }: Page): string[] {
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
}

/** The part of a page under a heading, up to the next heading of the same or a higher level. */
export function sectionOf({ text, path }: Page, heading: string): string {
  const level = /^#+/.exec(heading)?.[0].length ?? 1;
  const start = text.indexOf(`\n${heading}\n`);
  if (start === -1) throw new Error(`${path} has no heading ${heading}`);
  const rest = text.slice(start + heading.length + 2);
  const next = new RegExp(`^#{1,${level}} `, 'm').exec(rest);
  return next ? rest.slice(0, next.index) : rest;
}

/** The cells of each row of the first table in a text, without its head. */
export function tableRows(text: string): string[][] {
  const rows = /(?:^\|.*\|\n)+/m.exec(text)?.[0].trimEnd().split('\n') ?? [];
  return rows.slice(2).map((row) =>
    row
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

/** The cells of the first column of the first table in a text, without its head. */
export function firstColumn(text: string): string[] {
  return tableRows(text).map(([first = '']) => first);
}

/** Reads the curl commands of a page. */
interface Shown {
  readonly path: string;
  readonly body?: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The names of the headers that the page shows of the answer. */
  readonly answered: readonly string[];
}

/** The curl command that a page shows: the block of the example, or the one before its JSON. */
export function commandOf(page: Page, example: string): Shown {
  const index = page.blocks.findIndex((block) => block.example === example);
  const isAnswer = page.blocks[index]?.language === 'json';
  const text = page.blocks[isAnswer ? index - 1 : index]?.text ?? '';
  const path = /(?:\$API|\/api\/public\/v1)(\/[^\s"]+)/.exec(text)?.[1];
  if (!text.includes('curl') || path === undefined) throw new Error(`${example}: no curl command`);
  const body = /-d '([^']*)'/.exec(text)?.[1];
  const headers = [...text.matchAll(/-H '([\w-]+): ([^']*)'/g)]
    .map(([, name = '', value = '']): [string, string] => [name.toLowerCase(), value])
    .filter(([name]) => name !== 'authorization');
  return {
    path,
    headers: Object.fromEntries(headers),
    answered: [...text.matchAll(/^([a-z][a-z-]*): /gm)].map(([, name = '']) => name),
    ...(body !== undefined && { body }),
  };
}
