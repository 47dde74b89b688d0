/** The planted bugs of the operator API. */
import type { Bugs } from './plant.ts';

export const backEnds: Bugs = {
  'service/accounts/wallet-store.ts': {
    'payment-without-the-guard-of-its-reference': [
      'row.reference === undefined ? [] : [referenceItem',
      "row.reference === undefined || row.kind === 'payment' ? [] : [referenceItem",
    ],
    'guard-of-each-kind-of-its-own': [
      '...keys.reference(id, reference),',
      "...keys.reference(id, kind === 'payment' ? `payment ${reference}` : reference),",
    ],
    'wallet-moves-without-its-row': [
      'toPutNew(table, { ...key, ...row })',
      "toPutNew(table, row.kind === 'payment' ? { ...keys.reference(id, rowId), ...row } : { ...key, ...row })",
    ],
    // The item is the last one beside the account.
    'idempotency-after-the-effect': [
      'transact(table, [...items, ...beside], token);',
      `transact(table, [...items, ...beside.slice(0, -1)], token).then(async (made) => {
        if (made.kind === 'done' && beside.length > 0) await transact(table, beside.slice(-1));
        return made;
      });`,
    ],
  },
  'service/operator/account-edit-store.ts': {
    'external-id-of-two-accounts': [
      "Item: { ...externalKey(externalId), account },\n        ConditionExpression: 'attribute_not_exists(pk)',",
      'Item: { ...externalKey(externalId), account },',
    ],
  },
  'service/operator/accounts.ts': {
    'suspension-nobody-waits-for': [
      'await setCondition(account, body, context);',
      'void setCondition(account, body, context).catch(() => undefined);',
    ],
    'credit-line-beside-the-cap': [
      'const beside = more > 0 ?',
      'const beside = more > largestAvailableMicros ?',
    ],
  },
  'service/operator/context.ts': {
    'idempotency-key-of-any-request': [
      'if (remembered.requestHash !== requestHash) throw idempotencyKeyMismatch();',
      '',
    ],
  },
  'service/operator/money.ts': {
    'payment-by-nobody': [
      "kind: 'payment',\n        amountMicros: amount,\n        reference: body.reference,\n        payment: payment.id,\n        by: key.id,",
      "kind: 'payment',\n        amountMicros: amount,\n        reference: body.reference,\n        payment: payment.id,",
    ],
  },
  'service/operated/operator-key-store.ts': {
    'cap-of-credit-as-it-was-read': [
      "amount <= cap ? '(attribute_not_exists(#day) OR #day <= :room)' : '#day <= :room',",
      "amount + (creditedByDay[day] ?? 0) <= cap ? '(attribute_not_exists(#day) OR #day <= :room OR #day > :room)' : '#day <= :room',",
    ],
    'revoked-operator-key-credits': ["'attribute_not_exists(revokedAt)',", ''],
    'operator-key-is-remembered': [
      '...(key && { key: operatorKeyFromItem(key) }),',
      '...(key && { key: ((globalThis as any)[partition(String(keyId))] ??= operatorKeyFromItem(key)) }),',
    ],
    'idempotency-key-made-twice': [
      "'attribute_not_exists(pk) OR expiresAt <= :now'",
      "'attribute_not_exists(pk) OR expiresAt <= :now OR attribute_exists(pk)'",
    ],
    'operator-key-sends-one-more': ['#count < :limit', '#count <= :limit'],
  },
  'service/payments/payment-store.ts': {
    'more-given-back-than-credited': [
      "ConditionExpression: 'reversedMicros <= :room'",
      "ConditionExpression: 'reversedMicros <= :room OR attribute_exists(pk)'",
    ],
  },
  'service/operator/serve-operator.ts': {
    'operator-log-of-accounts-alone': ["await journal.begin('SERVICE');", ''],
    'refusal-noted-as-done': ["journal.end({ outcome: 'refused',", "journal.end({ outcome: 'done',"],
    'scope-unheeded': [
      'if (!key.scopes.includes(scope)) throw',
      "if (!key.scopes.includes('accounts:read')) throw",
    ],
  },
};
