/** The planted bugs of endpoints. */
import type { Bugs } from './plant.ts';

export const endpoints: Bugs = {
  'service/webhooks/endpoint.ts': {
    'endpoint-named-though-off': [
      'enabled && events.some((one) => one === event)',
      'events.some((one) => one === event)',
    ],
    'endpoint-named-unasked': [
      'enabled && events.some((one) => one === event)',
      "enabled && events.length > 0 && event !== ''",
    ],
  },
  'service/webhooks/endpoint-round.ts': {
    'endpoint-sent-though-off': ['endpoint?.enabled === true ? endpoint.url : undefined', 'endpoint?.url'],
    'endpoint-round-unclaimed': [
      'if (!(await services.rounds.claim(claim))) throw notDelivered();',
      'await services.rounds.claim(claim);',
    ],
    'endpoint-sent-twice': [
      'deliveries.map(async (delivery) => {',
      '[...deliveries, ...deliveries.slice(0, 1)].map(async (delivery) => {',
    ],
    'endpoint-early': [
      '|| schedule.nextAt > nowMillis) return schedule;',
      '|| schedule.nextAt > nowMillis + 70_000) return schedule;',
    ],
    'endpoint-one-id-for-all': [
      'messageIdOf(owed.messageId, endpointId)',
      'messageIdOf(owed.messageId, undefined)',
    ],
  },
  'service/webhooks/round-store.ts': {
    'endpoint-ends-of-another-round-lost': [
      "const isAsRead = 'webhook.#status = :pending AND webhook.endpoints = :known';",
      "const isAsRead = 'webhook.#status = :pending AND (webhook.endpoints = :known OR attribute_exists(webhook.endpoints))';",
    ],
  },
  'service/webhooks/endpoint-store.ts': {
    'endpoint-of-another-account': [
      'endpointsFromItem(await getItem(table, endpointsKey(id)));',
      '((globalThis as { read?: Endpoints }).read ??= endpointsFromItem(await getItem(table, endpointsKey(id))));',
    ],
    'endpoint-flags-forgotten': [
      'names.every((name) => old[name] === flags[name])',
      'names.some((name) => old[name] === flags[name])',
    ],
    'endpoint-change-lost': [
      "const isUnchanged = 'revision = :revision';",
      "const isUnchanged = 'revision >= :revision OR revision < :revision';",
    ],
  },
  'service/webhooks/endpoint-streak.ts': {
    'endpoint-failures-forgotten': [
      'if (failingSince === undefined)\n    return {',
      'if (failingSince === undefined && now === 0)\n    return {',
    ],
    'endpoint-success-forgotten': [
      'failingSince === undefined ? unchanged : { endpoint: rest, isChanged: true }',
      'unchanged',
    ],
    'endpoint-off-too-early': [
      'failingSince + disabled, toldAt + disabled - told',
      'failingSince + disabled, toldAt',
    ],
  },
  'service/generate/charge.ts': {
    'endpoint-without-an-event': [
      'webhookUrl === undefined && !account.creationEndpoints',
      'webhookUrl === undefined',
    ],
  },
};
