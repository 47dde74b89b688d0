import { randomInt } from 'node:crypto';
import * as z from 'zod';
import { isObject } from '../json-object.ts';

const lower = 'abcdefghijklmnopqrstuvwxyz';
const digits = '0123456789';
const punctuation = '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~';

const schema = z.strictObject({
  PasswordLength: z.int().min(1).max(4096).default(32),
  ExcludeCharacters: z.string().default(''),
  ExcludeLowercase: z.boolean().default(false),
  ExcludeUppercase: z.boolean().default(false),
  ExcludeNumbers: z.boolean().default(false),
  ExcludePunctuation: z.boolean().default(false),
  IncludeSpace: z.boolean().default(false),
  // This is accepted and ignored. At the usual lengths every type of character is likely. Only rules for
  // passwords need certainty, and keys do not.
  RequireEachIncludedType: z.boolean().optional(),
  SecretStringTemplate: z.string().optional(),
  GenerateStringKey: z.string().optional(),
});

/**
 * A random value, as CloudFormation's GenerateSecretString describes it. With a template the result is JSON
 * that holds the value under the key.
 */
export function generateSecretString(description: Readonly<Record<string, unknown>>): string {
  const wanted = schema.parse(description);
  const alphabet = [
    wanted.ExcludeLowercase ? '' : lower,
    wanted.ExcludeUppercase ? '' : lower.toUpperCase(),
    wanted.ExcludeNumbers ? '' : digits,
    wanted.ExcludePunctuation ? '' : punctuation,
    wanted.IncludeSpace ? ' ' : '',
  ]
    .join('')
    .split('')
    .filter((character) => !wanted.ExcludeCharacters.includes(character));
  if (alphabet.length === 0) throw new Error('GenerateSecretString excludes every character');
  const value = Array.from(
    { length: wanted.PasswordLength },
    () => alphabet[randomInt(alphabet.length)],
  ).join('');
  if (wanted.SecretStringTemplate === undefined || wanted.GenerateStringKey === undefined) return value;
  const template: unknown = JSON.parse(wanted.SecretStringTemplate);
  return JSON.stringify({ ...(isObject(template) ? template : {}), [wanted.GenerateStringKey]: value });
}
