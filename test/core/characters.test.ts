import { describe, expect, it } from 'vitest';
import { characters } from '../../core/characters.ts';

describe('the length of a text', () => {
  it.each([
    ['', 0],
    ['abc', 3],
    ['é', 1],
    ['e\u0301', 2],
    ['日本', 2],
    ['😀', 1],
    ['👩‍🚀', 3],
    ['\ud83d', 1],
  ])('The length of %j is %i code points', (text, length) => {
    expect(characters(text)).toBe(length);
  });
});
