import { describe, expect, it } from 'vitest';
import { isUser, userHash, userProblems } from '../../core/user.ts';

describe('the user of a request', () => {
  it.each<[string, unknown, string | undefined]>([
    ['one character', 'a', undefined],
    ['64 characters outside the basic plane', '🪶'.repeat(64), undefined],
    ['spaces, which are kept', ' a ', undefined],
    ['65 characters', 'a'.repeat(65), 'too_long'],
    ['an empty text', '', 'too_short'],
    ['a number', 7, 'invalid_type'],
    ['a line feed', 'a\nb', 'invalid_value'],
    ['DEL', 'a\u007f', 'invalid_value'],
    ['a control character of Latin-1', 'a\u0085', 'invalid_value'],
    ['half of a surrogate pair', 'a\ud83e', 'invalid_encoding'],
  ])('%s', (_what, value, code) => {
    expect(userProblems(value).map((problem) => problem.code)).toEqual(code === undefined ? [] : [code]);
    expect(isUser(value)).toBe(code === undefined);
  });

  it('The hash differs for each text and holds no character that a key of the table must not hold', () => {
    expect(userHash('a')).toBe('ypeBEsobvcr6wjGzmiPcTaeG7_gUfE5yuYB3ha_uSLs');
    expect(userHash('a ')).not.toBe(userHash('a'));
  });
});
