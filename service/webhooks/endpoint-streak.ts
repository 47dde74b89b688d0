/**
 * Since when every attempt of an endpoint has failed. The item of the endpoints is written only when such a
 * streak begins or ends, when a notice reports it, and when the endpoint is switched off. An ordinary attempt
 * writes nothing.
 */
import { getsNotices } from '../accounts/account.ts';
import { webhookGraceMillis } from '../contract/limits.ts';
import { noticeOf, type NoticeRecord, endpointParts } from '../notices/notice.ts';
import type { AccountId } from '../values/ids.ts';
import { errorName } from '../values/runtime.ts';
import type { Delivery } from './delivery.ts';
import { type Endpoint, type Endpoints, failingMillis, flagsOf } from './endpoint.ts';
import type { DeliveryServices } from './open.ts';

/** Other rounds of the account may write at the same time. The next attempt notes what this one could not. */
const mostTries = 3;

/** Never fails the work of the caller. @param known the endpoints as this round has read them */
export async function noteStreaks(
  accountId: AccountId,
  known: Endpoints,
  deliveries: readonly Delivery[],
  services: DeliveryServices,
): Promise<void> {
  try {
    let read = known;
    for (let tries = 0; tries < mostTries; tries += 1) {
      if (await noteIn(accountId, read, deliveries, services)) return;
      read = await services.endpoints.read(accountId);
    }
  } catch (error) {
    services.log.info('endpoint_not_noted', { accountId, error: errorName(error) });
  }
}

/** False when another call changed the endpoints since they were read. */
async function noteIn(
  accountId: AccountId,
  read: Endpoints,
  deliveries: readonly Delivery[],
  services: DeliveryServices,
): Promise<boolean> {
  const { clock, endpoints, log, noticeExecutions } = services;
  const now = clock.now();
  const steps = read.list.map((endpoint) => stepOf(endpoint, deliveries, now));
  if (steps.every(({ isChanged }) => !isChanged)) return true;
  const next = steps.map((step) => step.endpoint);
  const notices = await noticesOf(accountId, steps, next, services);
  if (!(await endpoints.write(accountId, read, next, notices))) return false;
  for (const { id, type, executions } of notices) {
    log.info('notice_told', { noticeId: id, accountId, type });
    await noticeExecutions.start(id, executions);
  }
  return true;
}

interface Step {
  readonly endpoint: Endpoint;
  readonly isChanged: boolean;
  readonly told?: 'endpoint.failing' | 'endpoint.disabled';
}

/** What the last attempt changes. An attempt at an earlier address of the endpoint says nothing. */
function stepOf(endpoint: Endpoint, deliveries: readonly Delivery[], now: number): Step {
  const { failingSince, toldAt, ...rest } = endpoint;
  const unchanged = { endpoint, isChanged: false };
  const last = deliveries.find(({ endpointId, url }) => endpointId === endpoint.id && url === endpoint.url);
  if (!last || !endpoint.enabled) return unchanged;
  if (last.outcome === 'delivered')
    return failingSince === undefined ? unchanged : { endpoint: rest, isChanged: true };
  if (failingSince === undefined)
    return { endpoint: { ...endpoint, failingSince: Date.parse(last.startedAt) }, isChanged: true };
  const { told, disabled } = failingMillis;
  if (toldAt === undefined)
    return now < failingSince + told
      ? unchanged
      : { endpoint: { ...endpoint, toldAt: now }, isChanged: true, told: 'endpoint.failing' };
  // For an endpoint with few events the notice may come late. Its people still have a day.
  if (now < Math.max(failingSince + disabled, toldAt + disabled - told)) return unchanged;
  const off = { ...endpoint, enabled: false, disabledReason: 'failing' } as const;
  return { endpoint: off, isChanged: true, told: 'endpoint.disabled' };
}

/** The notices that the steps cause, to those that get notices after the change. */
async function noticesOf(
  accountId: AccountId,
  steps: readonly Step[],
  next: readonly Endpoint[],
  { clock, randomBytes, notices }: DeliveryServices,
): Promise<readonly NoticeRecord[]> {
  const due = steps.flatMap(({ endpoint, told: type }) => (type ? [{ endpoint, type }] : []));
  const found = due.length > 0 ? await notices.readSpender(accountId) : undefined;
  if (!found) return [];
  const { noticeEndpoints: _before, ...rest } = found.account;
  const account = { ...rest, ...(flagsOf(next).noticeEndpoints && { noticeEndpoints: true as const }) };
  if (!getsNotices(account)) return [];
  const nowMillis = clock.now();
  return due.map(({ endpoint, type }) => {
    const parts = endpointParts(account, endpoint, endpoint.failingSince ?? nowMillis);
    const made = { nowMillis, dueAt: nowMillis + webhookGraceMillis, randomBytes: randomBytes(16) };
    return noticeOf(account, type, parts, made);
  });
}
