/**
 * The templates of the stack as they were last recorded, without settings and with every setting, but for the hashes
 * of bundles. After a change that is meant: `node test/recorded/write.ts` records anew.
 */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { templateFile, templateLines } from './template-lines.ts';

const recorded = JSON.parse(readFileSync(templateFile, 'utf8')) as string[];

it('The templates have what was recorded, and nothing else', () => {
  const lines = templateLines();
  expect(lines.filter((line) => !recorded.includes(line))).toEqual([]);
  expect(recorded.filter((line) => !lines.includes(line))).toEqual([]);
});
