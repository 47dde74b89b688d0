import { randomInt } from 'node:crypto';
import * as z from 'zod';

const generateSchema = z.strictObject({
  PasswordLength: z.coerce.number().int().min(1).max(4_096).default(32),
  ExcludeCharacters: z.string().default(''),
  ExcludeLowercase: z.boolean().default(false),
  ExcludeNumbers: z.boolean().default(false),
  ExcludePunctuation: z.boolean().default(false),
  ExcludeUppercase: z.boolean().default(false),
  IncludeSpace: z.boolean().default(false),
  RequireEachIncludedType: z.boolean().default(true),
  GenerateStringKey: z.string().optional(),
  SecretStringTemplate: z.string().optional(),
});

/**
 * The value of a secret with GenerateSecretString, as Secrets Manager makes it: random characters,
 * or a JSON object with them under GenerateStringKey. RequireEachIncludedType is left to chance.
 * Throws when no character is left to choose from.
 */
export function generateSecret(generate: Readonly<Record<string, unknown>>): string {
  const options = generateSchema.parse(generate);
  const characters = [
    options.ExcludeLowercase ? '' : 'abcdefghijklmnopqrstuvwxyz',
    options.ExcludeUppercase ? '' : 'ABCDEFGHIJKLMNOPQRSTUVWXYZ',
    options.ExcludeNumbers ? '' : '0123456789',
    options.ExcludePunctuation ? '' : '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~',
    options.IncludeSpace ? ' ' : '',
  ].join('').split('').filter((one) => !options.ExcludeCharacters.includes(one));
  const password = Array.from({ length: options.PasswordLength }, () => characters[randomInt(characters.length)]).join('');
  const { GenerateStringKey, SecretStringTemplate } = options;
  if (GenerateStringKey === undefined || SecretStringTemplate === undefined) return password;
  return JSON.stringify({ ...JSON.parse(SecretStringTemplate) as Record<string, unknown>, [GenerateStringKey]: password });
}
