/** The planted bugs of the portal. */
import type { Mutant } from './plant.ts';

export const portal: readonly Mutant[] = [
  {
    name: 'version-is-not-compared',
    file: 'service/portal/manage/keys.ts',
    find: ' || keyVersion(read) !== body.version',
    replace: '',
  },
  {
    name: 'member-without-its-condition',
    file: 'service/portal/people-store.ts',
    find: 'condition: `#role = :role AND ${hasSameCap}`',
    replace: 'condition: `(#role = :role AND ${hasSameCap}) OR attribute_exists(pk)`',
  },
  {
    name: 'invitation-binds-twice',
    file: 'service/portal/people-store.ts',
    find: 'toDelete(key, isOpen, values)',
    replace: 'toDelete(key, `attribute_not_exists(pk) OR (${isOpen})`, values)',
  },
  {
    name: 'session-outlives-its-place',
    file: 'service/portal/session.ts',
    find: 'createdAt < Date.parse(since) || ',
    replace: '',
  },
  {
    name: 'roll-forgets-the-old-key',
    file: 'service/portal/manage/keys.ts',
    find: 'services.keys.roll(read, next.record, until)',
    replace: "services.keys.roll(read, next.record, '2099-01-01T00:00:00.000Z')",
  },
  {
    name: 'last-owner-may-go',
    file: 'service/portal/people-store.ts',
    find: "ConditionExpression: 'owners > :one'",
    replace: "ConditionExpression: 'owners > :one OR attribute_exists(pk)'",
  },
  {
    name: 'removed-member-is-remembered',
    file: 'service/portal/http/caller.ts',
    find: 'const { member, account, operator } = state;',
    replace:
      "const { account, operator } = state;\n  const known = ((globalThis as Record<string, unknown>)['members'] ??= new Map()) as Map<string, typeof state.member>;\n  const member = state.member ?? known.get(session.hash);\n  known.set(session.hash, member);",
  },
  {
    name: 'origin-secret-before-is-refused',
    file: 'service/aws/secrets.ts',
    find: 'return [current, previous].filter',
    replace: 'return [current || previous].filter',
  },
  {
    name: 'ended-session-lives',
    file: 'service/portal/http/caller.ts',
    find: 'if (member && wasEndedHere(session, member))',
    replace: "if (member?.role === 'viewer' && wasEndedHere(session, member))",
  },
  {
    name: 'developers-may-do-everything',
    file: 'service/portal/people.ts',
    find: 'roles.indexOf(role) >= roles.indexOf(least)',
    replace: 'roles.indexOf(role) >= Math.min(1, roles.indexOf(least))',
  },
  {
    name: 'action-noted-behind',
    file: 'service/portal/http/note-action.ts',
    find: '  await services.actions.begin(action);',
    replace:
      '  const early = await run();\n  await services.actions.begin(action);\n  if (early.status < 400) return early;',
  },
  {
    name: 'playground-without-the-idempotency-key',
    file: 'service/portal/generate/generate.ts',
    find: 'handle(request, caller, services)',
    replace: "handle({ ...request, idempotencyKey: { kind: 'absent' } }, caller, services)",
  },
  {
    name: 'all-webhooks-sent-again',
    file: 'service/portal/manage/webhooks.ts',
    find: "one.webhook?.status === 'failed'",
    replace: "one.webhook?.status !== 'pending'",
  },
  {
    name: 'new-key-in-the-log',
    file: 'service/portal/manage/keys.ts',
    find: 'const view: CreatedKeyView = { key,',
    replace: "services.log.info('key_created', { key });\n  const view: CreatedKeyView = { key,",
  },
];

/** The planted bugs of what the API reads: creations, balance, catalog. */
export const api: readonly Mutant[] = [
  {
    name: 'everybody-reads-everything',
    file: 'service/api/creations.ts',
    find: 'creation?.accountId !== account.id',
    replace: '!creation',
  },
  {
    name: 'balance-tells-the-credit-line',
    file: 'service/api/get-balance.ts',
    find: 'available: toUsd(account.availableMicros)',
    replace: 'available: toUsd(account.creditLineMicros)',
  },
  {
    name: 'catalog-of-an-old-revision',
    file: 'service/catalog/sold-catalog.ts',
    find: 'if (memory.kept?.revision === revision) return memory.kept;',
    replace: 'if (memory.kept) return memory.kept;',
  },
];

/** The planted bugs of the calls to AWS and to the hosts of clients. */
export const aws: readonly Mutant[] = [
  {
    name: 'unprocessed-is-absent',
    file: 'service/aws/dynamodb/batch-get.ts',
    find: 'if (open.length === 0) return items;',
    replace: 'if (open.length >= 0) return items;',
  },
  {
    name: 'switch-of-protocols-unheard',
    file: 'service/outbound/pinned-exchange.ts',
    find: "request.on('upgrade', ({ headers }, socket) => {\n      hasAnswer = true;",
    replace:
      "request.on('upgrade', ({ headers }, socket) => {\n      if (socket) return;\n      hasAnswer = true;",
  },
  {
    name: 'conflict-of-a-single-write',
    file: 'service/aws/dynamodb/send.ts',
    find: 'if (!isShed(error)) throw error;',
    replace: "if (!isShed(error) || (error as Error).name === 'TransactionConflictException') throw error;",
  },
];

/** The planted bugs of the OpenAI-shaped endpoint. */
export const openai: readonly Mutant[] = [
  {
    name: 'place-for-everybody',
    file: 'service/api/held-places-store.ts',
    find: "'attribute_not_exists(#place) OR #place.#until <= :now OR #place.holder = :holder'",
    replace:
      "'attribute_not_exists(#place) OR #place.#until <= :now OR #place.holder = :holder OR attribute_exists(pk)'",
  },
  {
    name: 'place-beyond-the-share',
    file: 'service/api/held-places-store.ts',
    find: '{ length: limit }',
    replace: '{ length: limit + 1 }',
  },
  {
    name: 'share-of-places-unheeded',
    file: 'service/openai/openai-images.ts',
    find: 'isHeld ? untilMillis : 0',
    replace: 'isHeld || !asked.asked.isStreamed ? untilMillis : 0',
  },
];
