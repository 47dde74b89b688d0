/** The operator's commands as docs/providers.md shows them. */
import { readPage } from '../../docs/pages.ts';

/**
 * The arguments of each command in the block that has this text.
 * @param from the address that the page shows
 * @param to the address of the server in this test
 */
export function commandsOfThePage(shown: string, from: string, to: string): string[][] {
  const block = readPage('docs/providers.md').blocks.find(({ text }) => text.includes(shown));
  return (block?.text.trim().split('\n') ?? []).map((line) =>
    line.replace('npm run admin -- ', '').replace(from, to).split(' '),
  );
}
