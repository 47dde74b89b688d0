/** The planted bugs of accounts and keys. */
import type { Mutant } from './plant.ts';

export const accounts: readonly Mutant[] = [
  {
    name: 'edit-without-its-condition',
    file: 'service/accounts/key-store.ts',
    find: "['attribute_exists(pk)', ...conditions].join(' AND ')",
    replace: "`attribute_exists(pk) OR (${conditions.join(' AND ')})`",
  },
  {
    name: 'edit-undoes-a-revocation',
    file: 'service/accounts/key-store.ts',
    find: `    ...parts,
    ConditionExpression: condition.ConditionExpression,`,
    replace: `    ...parts,
    UpdateExpression: parts.UpdateExpression.includes('REMOVE')
      ? parts.UpdateExpression + ', #revokedAt'
      : parts.UpdateExpression + ' REMOVE #revokedAt',
    ConditionExpression: condition.ConditionExpression.replace(
      'attribute_not_exists(#revokedAt)',
      '(attribute_not_exists(#revokedAt) OR attribute_exists(pk))',
    ),`,
  },
  {
    name: 'near-end-handed-on',
    file: 'service/accounts/key-changes.ts',
    find: 'key.rolled ? key.rolled.expiresAt : key.expiresAt',
    replace: 'key.expiresAt',
  },
  {
    name: 'rotation-without-its-condition',
    file: 'service/accounts/account-settings-store.ts',
    find: "'webhookSecrets[0].sealed = :current'",
    replace: "'webhookSecrets[0].sealed = :current OR attribute_exists(pk)'",
  },
  {
    name: 'alerts-without-their-condition',
    file: 'service/accounts/account-settings-store.ts',
    find: "['attribute_exists(pk)', ...asRead].join(' AND ')",
    replace: "`attribute_exists(pk) OR (${asRead.join(' AND ')})`",
  },
];
