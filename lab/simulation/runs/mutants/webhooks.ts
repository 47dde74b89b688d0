/** The planted bugs of webhooks: the schedule, the signature, the secrets. */
import type { Mutant } from './plant.ts';

export const webhooks: readonly Mutant[] = [
  {
    name: 'webhook-early',
    file: 'service/webhooks/deliver-attempt.ts',
    find: '{ at: clock.now() + waitAfter(number) }',
    replace: '{ at: clock.now() + 30_000 }',
  },
  {
    name: 'webhook-unclaimed',
    file: 'service/webhooks/deliver-attempt.ts',
    find: 'nowMillis: now }))) throw notDelivered();',
    replace: 'nowMillis: now })) && now === 0) throw notDelivered();',
  },
  {
    name: 'webhook-after-success',
    file: 'service/webhooks/deliver-attempt.ts',
    find: 'const isLast = isDelivered || ',
    replace: 'const isLast = ',
  },
  {
    name: 'webhook-gives-up-at-four',
    file: 'service/webhooks/deliver-attempt.ts',
    find: 'number === webhookAttempts',
    replace: 'number >= webhookAttempts - 1',
  },
  {
    name: 'signed-with-the-oldest',
    file: 'service/webhooks/secrets.ts',
    find: "current: plainOf.get(signing) ?? ''",
    replace: "current: opened.at(-1)?.plain ?? ''",
  },
  {
    name: 'signed-with-the-pending',
    file: 'service/webhooks/secrets.ts',
    find: 'signsFrom === undefined || signsFrom <= nowMillis',
    replace: 'signsFrom === undefined || signsFrom > 0',
  },
  {
    name: 'previous-is-the-oldest',
    file: 'service/webhooks/secrets.ts',
    find: '.find((plain) => plain !== undefined)',
    replace: '.findLast((plain) => plain !== undefined)',
  },
  {
    name: 'replaced-secret-dropped',
    file: 'service/webhooks/secrets.ts',
    find: 'replacedAt !== undefined && replacedAt <= oldest',
    replace: 'replacedAt !== undefined',
  },
  {
    name: 'six-attempts',
    file: 'service/webhooks/webhook.ts',
    find: 'webhookAttempts = 5',
    replace: 'webhookAttempts = 6',
  },
  {
    name: 'replaced-secret-never-over',
    file: 'service/webhooks/secrets.ts',
    find: 'replacedSecretSeconds = 24 * 60 * 60',
    replace: 'replacedSecretSeconds = 99 * 60 * 60',
  },
  {
    name: 'test-delivery-unthrottled',
    file: 'service/webhooks/delivery-store.ts',
    find: "'attribute_not_exists(lastAt) OR lastAt <= :before'",
    replace: "'attribute_not_exists(lastAt) OR attribute_exists(lastAt) OR lastAt <= :before'",
  },
];
