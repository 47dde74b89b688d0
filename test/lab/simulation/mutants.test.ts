import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { mutants } from '../../../lab/simulation/runs/mutants/all-mutants.ts';

it('The text of each planted bug occurs exactly once in its file, and its replacement differs', () => {
  const lost = mutants.filter(({ file, find, replace }) => {
    const text = readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8');
    return text.split(find).length !== 2 || find === replace;
  });
  expect(lost.map(({ name, file }) => `${name}: ${file}`)).toEqual([]);
});
