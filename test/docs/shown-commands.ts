/** Reads the curl commands of a page. */
import type { Page } from './pages.ts';

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
