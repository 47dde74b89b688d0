import { describe, expect, it } from 'vitest';
import { metadataProblems } from '../../service/creations/image-request.ts';

const pair = (name: string, value: unknown = 'v') => ({ [name]: value });
const keys = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 'v']));

describe('metadata', () => {
  it.each<[string, unknown]>([
    ['nothing at all', {}],
    ['16 keys', keys(16)],
    ['a key of 40 characters', pair('k'.repeat(40))],
    ['a key of one character', pair('k')],
    ['a value of 500 characters', pair('k', 'v'.repeat(500))],
    ['a key of 40 emoji, each of two UTF-16 units', pair('😀'.repeat(40))],
    ['a value of 500 emoji, each of two UTF-16 units', pair('k', '😀'.repeat(500))],
    ['an empty value', pair('k', '')],
    ['a key that every object has', JSON.parse('{"__proto__":"v","constructor":"v"}')],
  ])('The metadata of a request may be %s', (_what, value) => {
    expect(metadataProblems(value)).toEqual([]);
  });

  const notAnObject = '- invalid_type: must be an object';
  it.each<[string, unknown, string]>([
    ['undefined', undefined, notAnObject],
    ['null', null, notAnObject],
    ['a text', 'k', notAnObject],
    ['a number', 1, notAnObject],
    ['a list', ['v'], notAnObject],
    ['17 keys', keys(17), '- too_many: at most 16 keys'],
    ['an empty key', pair(''), '- too_short: a key must not be empty'],
    ['a key of 41 characters', pair('k'.repeat(41)), `${'k'.repeat(41)} too_long: at most 40 characters`],
    [
      'half of a surrogate pair in a key',
      pair('k\ud83d'),
      'k\ud83d invalid_encoding: a key must not contain half of a surrogate pair',
    ],
    ['a value that is null', pair('k', null), 'k invalid_type: must be a string'],
    ['a value that is a number', pair('k', 1), 'k invalid_type: must be a string'],
    ['a value of 501 characters', pair('k', 'v'.repeat(501)), 'k too_long: at most 500 characters'],
    ['a key of 41 emoji', pair('😀'.repeat(41)), `${'😀'.repeat(41)} too_long: at most 40 characters`],
    ['a value of 501 emoji', pair('k', '😀'.repeat(501)), 'k too_long: at most 500 characters'],
    [
      'half of a surrogate pair in a value',
      pair('k', '\ude00v'),
      'k invalid_encoding: must not contain half of a surrogate pair',
    ],
  ])('The metadata of a request is refused for %s', (_what, value, problem) => {
    const told = metadataProblems(value).map(
      ({ name = '-', code, message }) => `${name} ${code}: ${message}`,
    );
    expect(told).toEqual([problem]);
  });

  it('All problems of metadata are reported together: the number of keys first, then one problem for each key', () => {
    const problems = metadataProblems({ ...keys(16), '': 7, long: 'v'.repeat(501), number: 7 });
    expect(problems.map(({ name, code }) => [name, code])).toEqual([
      [undefined, 'too_many'],
      [undefined, 'too_short'],
      ['long', 'too_long'],
      ['number', 'invalid_type'],
    ]);
  });
});
