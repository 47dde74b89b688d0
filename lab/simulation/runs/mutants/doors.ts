/** The planted bugs of the ways in: the portal, the API, OpenAI's shape, and the calls to AWS. */
import type { Bugs } from './plant.ts';

export const doors: Bugs = {
  'service/accounts/user-token.ts': {
    'idempotency-of-tokens-without-user': ['`${id.slice(6, 6 + userDigits)}#${hash}`', '`#${hash}`'],
  },
  'service/api/authenticate.ts': {
    'token-that-ended-is-a-rejection': [
      'if (holding?.holder instanceof Problem) throw await noted(holding.holder);',
      "if (holding?.holder instanceof Problem) {\n    await requests.countRejection(address, '401', nowMillis);\n    throw holding.holder;\n  }",
    ],
  },
  'service/api/cut-secrets.ts': {
    'refusal-shows-signed-addresses': ["'$1?…'", "'$&'"],
  },
  'service/api/request-id.ts': {
    'request-id-begins-with-the-account': ['`${id}.${account}.', '`${account}.${id}.'],
  },
  'service/api/refusal-store.ts': {
    'refusal-outlives-the-texts': ['Math.min(loggedDays, promptDays || loggedDays)', 'loggedDays'],
  },
  'service/api/admit.ts': {
    'refusal-is-not-noted': [
      'await services.refusals.note(request, callerOf(known), problem);',
      'if (problem.status === 429) await services.refusals.note(request, callerOf(known), problem);',
    ],
  },
  'service/api/serve.ts': {
    'origin-checked-after-the-charge': [
      'if (refused) throw refused;\n          const answer = await handle(request, caller, named);',
      'const answer = await handle(request, caller, named);\n          if (refused) throw refused;',
    ],
  },
  'service/creations/token-items.ts': {
    'token-item-without-expiry': ['AND expiresAt > :at', 'AND expiresAt <> :at'],
    'refund-gives-a-use-back': [
      "'ADD leftMicros :tokenBack',\n        ExpressionAttributeValues: {",
      "'ADD leftMicros :tokenBack, usesLeft :oneUse',\n        ExpressionAttributeValues: { ':oneUse': 1,",
    ],
  },
  'service/api/creations.ts': {
    'everybody-reads-everything': ['creation?.accountId !== account.id', '!creation'],
  },
  'service/api/get-balance.ts': {
    'balance-tells-the-credit-line': [
      'available: toUsd(account.availableMicros)',
      'available: toUsd(account.creditLineMicros)',
    ],
  },
  'service/api/held-slots-store.ts': {
    'place-for-everybody': [
      "'attribute_not_exists(#slot) OR #slot.#until <= :now OR #slot.holder = :holder'",
      "'attribute_not_exists(#slot) OR #slot.#until <= :now OR #slot.holder = :holder OR attribute_exists(pk)'",
    ],
    'place-beyond-the-share': ['{ length: limit }', '{ length: limit + 1 }'],
  },
  'service/aws/dynamodb/batch-get.ts': {
    'unprocessed-is-absent': ['if (open.length === 0) return items;', 'if (open.length >= 0) return items;'],
  },
  'service/aws/dynamodb/send.ts': {
    'conflict-of-a-single-write': [
      'if (!isShed(error)) throw error;',
      "if (!isShed(error) || (error as Error).name === 'TransactionConflictException') throw error;",
    ],
    'silence-to-a-read-is-our-failure': [
      'throw isUnanswered(error)',
      "throw table.name === '' && isUnanswered(error)",
    ],
  },
  'service/aws/secrets.ts': {
    'origin-secret-before-is-refused': [
      'return [current, previous].filter',
      'return [current || previous].filter',
    ],
  },
  'service/catalog/sold-catalog.ts': {
    'catalog-of-an-old-revision': [
      'if (memory.kept?.revision === revision) return memory.kept;',
      'if (memory.kept) return memory.kept;',
    ],
  },
  'service/openai/openai-images.ts': {
    'share-of-places-unheeded': [
      'isHeld ? untilMillis : 0',
      'isHeld || !asked.asked.isStreamed ? untilMillis : 0',
    ],
  },
  'service/outbound/pinned-exchange.ts': {
    'switch-of-protocols-unheard': [
      "request.on('upgrade', ({ headers }, socket) => {\n      hasAnswer = true;",
      "request.on('upgrade', ({ headers }, socket) => {\n      if (socket) return;\n      hasAnswer = true;",
    ],
  },
  'service/portal/generate/generate.ts': {
    'playground-without-the-idempotency-key': [
      'handle(request, caller, services)',
      "handle({ ...request, idempotencyKey: { kind: 'absent' } }, caller, services)",
    ],
  },
  'service/portal/http/caller.ts': {
    'removed-member-is-remembered': [
      'const { member, account, operator } = state;',
      "const { account, operator } = state;\n  const known = ((globalThis as Record<string, unknown>)['members'] ??= new Map()) as Map<string, typeof state.member>;\n  const member = state.member ?? known.get(session.hash);\n  known.set(session.hash, member);",
    ],
    'ended-session-lives': [
      'if (member && wasEndedHere(session, member))',
      "if (member?.role === 'viewer' && wasEndedHere(session, member))",
    ],
  },
  'service/portal/http/note-action.ts': {
    'action-noted-behind': [
      '  await services.actions.begin(action);',
      '  const early = await run();\n  await services.actions.begin(action);\n  if (early.status < 400) return early;',
    ],
  },
  'service/portal/manage/keys.ts': {
    'version-is-not-compared': [' || keyVersion(read) !== body.version', ''],
    'roll-forgets-the-old-key': [
      'services.keys.roll(read, next.record, until)',
      "services.keys.roll(read, next.record, '2099-01-01T00:00:00.000Z')",
    ],
    'new-key-in-the-log': [
      'const view: CreatedKeyView = { key,',
      "services.log.info('key_created', { key });\n  const view: CreatedKeyView = { key,",
    ],
  },
  'service/portal/manage/webhooks.ts': {
    'all-webhooks-sent-again': ["webhook?.status === 'failed' &&", "webhook?.status !== 'pending' &&"],
  },
  'service/portal/people-store.ts': {
    'member-without-its-condition': [
      'condition: `#role = :role AND ${hasSameCap}`',
      'condition: `(#role = :role AND ${hasSameCap}) OR attribute_exists(pk)`',
    ],
    'invitation-binds-twice': [
      'toDelete(key, isOpen, values)',
      'toDelete(key, `attribute_not_exists(pk) OR (${isOpen})`, values)',
    ],
    'last-owner-may-go': [
      "ConditionExpression: 'owners > :one'",
      "ConditionExpression: 'owners > :one OR attribute_exists(pk)'",
    ],
  },
  'service/portal/people.ts': {
    'developers-may-do-everything': [
      'roles.indexOf(role) >= roles.indexOf(least)',
      'roles.indexOf(role) >= Math.min(2, roles.indexOf(least))',
    ],
  },
  'service/portal/session.ts': {
    'session-outlives-its-place': ['createdAt < Date.parse(since) || ', ''],
  },
};
