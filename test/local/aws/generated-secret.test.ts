import { expect, test } from 'vitest';
import { generateSecretString } from '../../../local/aws/secrets.ts';

test('A generated secret has the length and the characters that were asked for', () => {
  expect(generateSecretString({})).toMatch(/^[!-~]{32}$/);
  expect(generateSecretString({ PasswordLength: 64, ExcludePunctuation: true })).toMatch(/^[A-Za-z0-9]{64}$/);
  expect(
    generateSecretString({
      ExcludePunctuation: true,
      ExcludeLowercase: true,
      ExcludeUppercase: true,
      ExcludeCharacters: '01234',
    }),
  ).toMatch(/^[5-9]{32}$/);
  expect(generateSecretString({})).not.toBe(generateSecretString({}));
});

test('With a SecretStringTemplate the generated secret is a member of the JSON', () => {
  const secret = generateSecretString({
    SecretStringTemplate: '{"user":"u"}',
    GenerateStringKey: 'key',
    PasswordLength: 8,
    ExcludePunctuation: true,
  });
  const key: unknown = expect.stringMatching(/^\w{8}$/);
  expect(JSON.parse(secret)).toEqual({ user: 'u', key });
});

test('A description that excludes every character, or that has an unknown member, is refused', () => {
  expect(() =>
    generateSecretString({
      ExcludePunctuation: true,
      ExcludeLowercase: true,
      ExcludeUppercase: true,
      ExcludeNumbers: true,
    }),
  ).toThrow('excludes every character');
  expect(() => generateSecretString({ PaswordLength: 3 })).toThrow();
});
