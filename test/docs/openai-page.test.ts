/** The tables of docs/openai.md are those of the code. */
import { describe, expect, it } from 'vitest';
import { openaiOperations } from '../../service/contract/operations.ts';
import { qualityWords } from '../../service/openai/fields.ts';
import { readSize, shapeOf } from '../../service/openai/size.ts';
import { errorRows } from '../../service/openai/refusal.ts';
import { catalog } from '../catalog/sold-catalog-fixture.ts';
import { readPage, sectionOf, tableRows } from './pages.ts';

const page = readPage('docs/openai.md');
const code = (word: string): string => `\`${word}\``;
/** Refusals of the portal alone. */
const ofThePortal = ['forbidden', 'conflict'];

describe('docs/openai.md', () => {
  it('The table of operations has every operation', () => {
    const stated = Object.values(openaiOperations).map(({ method, path }) => `${method} ${path}`);
    const rows = tableRows(page.text).map(([first]) => first);
    expect(rows.filter((first) => /^(GET|POST) /.test(first ?? '')).toSorted()).toEqual(stated.toSorted());
  });

  it('The table of errors has status, type, code and retry of every error', () => {
    const rows = Object.entries(errorRows)
      .filter(([name]) => !ofThePortal.includes(name))
      .map(([name, { status, type, retry }]) => [
        String(status),
        code(type),
        code(name),
        retry ? 'yes' : 'no',
      ]);
    const shown = tableRows(sectionOf(page, '## Errors')).map((cells) => cells.slice(0, 4));
    expect(shown.toSorted()).toEqual(rows.toSorted());
  });

  it('The table of qualities has every word', () => {
    const rows = tableRows(sectionOf(page, '### Qualities')).map(([word, meaning]) => [
      word,
      word === '`auto`' ? 'auto' : meaning,
    ]);
    expect(rows).toEqual(
      Object.entries(qualityWords).map(([word, meaning]) => [
        code(word),
        meaning === 'auto' ? meaning : meaning.join(', else '),
      ]),
    );
  });

  it('The table of sizes is what a model of all resolutions and ratios renders', () => {
    const model = catalog.models.find(({ id }) => id === 'gpt-image-2');
    const rows = tableRows(sectionOf(page, '### Sizes'));
    expect(rows.length).toBeGreaterThan(10);
    for (const [size = '', resolution, ratio] of rows) {
      const read = readSize(size.replaceAll('`', ''));
      const shape = model && read && read !== 'auto' ? shapeOf(read, model, model.routes) : undefined;
      expect([size, shape?.resolution, shape?.aspectRatio]).toEqual([size, resolution, ratio]);
    }
  });
});
