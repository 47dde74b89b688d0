/** Checks the promises once no work is open. Each broken promise becomes one line with its name. */
import { auditTable } from '../../../admin/audit-table.ts';
import type { OperatorServices } from '../../../admin/services.ts';
import { type CreationRecord, isTerminal } from '../../../service/creations/creation.ts';
import type { AccountId } from '../../../service/values/ids.ts';
import { signature256, webhookWaitsSeconds } from '../../../service/webhooks/webhook.ts';
import type { Arrival, Sent } from './client-load.ts';

export interface Proven {
  readonly operator: OperatorServices;
  readonly accounts: readonly { readonly id: AccountId; readonly secret: string }[];
  readonly sent: readonly Sent[];
  readonly arrivals: readonly Arrival[];
}

const pageSize = 100;

/** Counts the creations and lists the broken promises. The list is empty when nothing was lost. */
export async function prove({
  operator,
  accounts,
  sent,
  arrivals,
}: Proven): Promise<{ creations: number; wrong: string[] }> {
  const { differences } = await auditTable(operator);
  const wrong = differences.map((difference) => `the books balance: ${JSON.stringify(difference)}`);
  let count = 0;
  for (const [index, { id, secret }] of accounts.entries()) {
    const creations = await allCreations(operator, id);
    count += creations.length;
    const own = sent.filter(({ account }) => account === index);
    wrong.push(
      ...requestsAreKept(own, creations),
      ...endings(creations),
      ...(await webhooks(operator, secret, creations, arrivals)),
    );
  }
  return { creations: count, wrong };
}

async function allCreations(operator: OperatorServices, account: AccountId): Promise<CreationRecord[]> {
  const all: CreationRecord[] = [];
  for (;;) {
    const page = await operator.creations.list(account, pageSize, all.at(-1)?.id);
    all.push(...page);
    if (page.length < pageSize) return all;
  }
}

/**
 * Checks that every creation that a 202 named exists, that an idempotency key has at most one unrefunded
 * charge, and that a refused request left no creation.
 */
function requestsAreKept(sent: readonly Sent[], creations: readonly CreationRecord[]): string[] {
  const ofKey = Map.groupBy(creations, ({ metadata }) => metadata['key'] ?? '');
  const known = new Set<string>(creations.map(({ id }) => id));
  return sent.flatMap(({ key, accepted, refused }) => {
    const own = ofKey.get(key) ?? [];
    const unrefunded = own.filter(({ status }) => status !== 'failed');
    return [
      ...[...accepted].filter((id) => !known.has(id)).map((id) => `every 202 is readable: ${id}`),
      ...(unrefunded.length > 1 ? [`one charge a key: ${key} has ${unrefunded.length}`] : []),
      ...(accepted.size === 0 && refused === undefined ? [`every request is answered: ${key}`] : []),
      ...(refused !== undefined && accepted.size === 0 && own.length > 0
        ? [`a refusal leaves nothing: ${key} was answered ${refused}`]
        : []),
    ];
  });
}

/**
 * Checks that every creation and every webhook ended and left the index of open work. The audit checks
 * refunds.
 */
function endings(creations: readonly CreationRecord[]): string[] {
  return creations.flatMap(({ id, status, webhook, dueAt }) => [
    ...(isTerminal(status) ? [] : [`every creation ends: ${id} is ${status}`]),
    ...(webhook?.status === 'pending' ? [`every webhook is settled: ${id}`] : []),
    ...(dueAt === undefined ? [] : [`no work is left: ${id}`]),
  ]);
}

async function webhooks(
  operator: OperatorServices,
  secret: string,
  creations: readonly CreationRecord[],
  arrivals: readonly Arrival[],
): Promise<string[]> {
  const ofCreation = Map.groupBy(arrivals, ({ creation }) => creation);
  const wrong: string[] = [];
  for (const { id, accountId, webhook } of creations) {
    if (!webhook) continue;
    const own = ofCreation.get(id) ?? [];
    wrong.push(
      ...schedule(id, own),
      ...own
        .filter((arrival) => !verifies(arrival, secret))
        .map(({ attempt }) => `every signature verifies: ${id} attempt ${attempt}`),
    );
    // A receiver may have answered with a 2xx that the service could not store before it was killed. The
    // reverse must never happen.
    if (webhook.status === 'delivered' && !own.some(({ status }) => status < 300))
      wrong.push(`delivered means answered with a 2xx: ${id}`);
    if (webhook.status === 'failed' && webhook.attempts < 5 && own.at(-1)?.status !== 410)
      wrong.push(`a webhook is tried five times: ${id}`);
    for (const answered of own.filter(({ status }, index) => status < 300 && index < own.length - 1)) {
      const noted = await operator.deliveries.find(accountId, answered.delivery);
      if (noted?.outcome !== undefined)
        wrong.push(`none behind a 2xx that was noted: ${id} attempt ${answered.attempt}`);
    }
  }
  return wrong;
}

/** Checks that each attempt was sent once, in its order, and never early by the service's own clock. */
function schedule(id: string, own: readonly Arrival[]): string[] {
  return own.slice(1).flatMap((arrival, index) => {
    const before = own[index] ?? arrival;
    const waited = Number(arrival.headers['x-timestamp']) - Number(before.headers['x-timestamp']);
    const least = webhookWaitsSeconds[before.attempt - 1] ?? Infinity;
    return [
      ...(arrival.attempt <= before.attempt
        ? [`an attempt is sent once: ${id} attempt ${arrival.attempt} behind ${before.attempt}`]
        : []),
      // Both times are rounded down to seconds.
      ...(waited < least - 1 ? [`never early: ${id} attempt ${arrival.attempt} after ${waited} s`] : []),
    ];
  });
}

function verifies({ headers, body }: Arrival, secret: string): boolean {
  return headers['x-webhook-signature-256'] === signature256(secret, headers['x-timestamp'] ?? '', body);
}
