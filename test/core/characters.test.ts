import { describe, expect, it } from 'vitest';
import { asciiLower, characters } from '../../core/characters.ts';

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

describe('a text in lower case', () => {
  it('Only A to Z change, and every other character stays as it is', () => {
    const changed: string[] = [];
    for (let point = 0; point <= 0x10_ff_ff; point += 1) {
      const character = String.fromCodePoint(point);
      if (asciiLower(character) !== character) changed.push(character);
    }
    expect(changed.join('')).toBe('ABCDEFGHIJKLMNOPQRSTUVWXYZ');
    expect(asciiLower('Owner@ACME.test')).toBe('owner@acme.test');
  });
});
