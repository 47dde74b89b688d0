/** Makes docs/conformance.md from rows.ts. */
import { formattedPage } from '../../tools/formatted-page.ts';
import { parts, type Row } from './rows.ts';

export const conformancePage = new URL('../../docs/conformance.md', import.meta.url);

/** The file and the title of a proof's test. */
export function placeOf(proof: string): { file: string; title: string } {
  const colon = proof.indexOf(': ');
  return { file: `test/${proof.slice(0, colon)}.test.ts`, title: proof.slice(colon + 2) };
}

const cell = (text: string): string => text.replaceAll('|', '\\|');

function proofs({ provenBy }: Row): string {
  return provenBy
    .map(placeOf)
    .map(({ file, title }) => `[${file.slice('test/'.length)}](../${file}): ${cell(title)}`)
    .join('<br>');
}

export async function conformanceTable(): Promise<string> {
  const count = parts.reduce((sum, { rows }) => sum + rows.length, 0);
  const sections = parts.map(({ part, rows }) =>
    [
      `## ${part}`,
      '',
      '| The API states | Proven by |',
      '|---|---|',
      ...rows.map((row) => `| ${cell(row.states)} | ${proofs(row)} |`),
    ].join('\n'),
  );
  const page = [
    '# Conformance',
    '',
    `${count} statements of [the API](api.md), each with the tests that prove it. A title with %s or $name stands for a row of cases.`,
    'This file is written by `node test/conformance/write.ts`; a test fails when it is out of date, or when a test named here is gone.',
    '',
    sections.join('\n\n'),
    '',
  ].join('\n');
  return formattedPage(page);
}
