/** What the operator sees of an account: the lists that its own people read, and each creation with its providers. */
import { creationNotFound } from '../../api/problems.ts';
import type { PortalOperationName } from '../../contract/operations.ts';
import type { OperatedCreation } from '../../contract/portal-views.ts';
import type { RouteAttempt } from '../../creations/creation.ts';
import { parseAccountId, parseCreationId } from '../../values/ids.ts';
import { toUsd } from '../../values/money.ts';
import { accountNotFound } from '../account-not-found.ts';
import { creationDetail } from '../creation-view.ts';
import { listKeys, listPeople } from './account.ts';
import { listPortalCreations } from './creations.ts';
import { listLedger } from './ledger.ts';
import type { ReadHandle, TabHandle } from './open.ts';
import { listPortalRequests } from './requests.ts';
import { listDeliveries } from './webhooks.ts';

/** The list of the account that the path names. */
function ofAccount<Name extends PortalOperationName>(list: TabHandle<Name>) {
  return async (
    ...[request, caller, services]: Parameters<ReadHandle<'listAccountKeys'>>
  ): Promise<Awaited<ReturnType<TabHandle<Name>>>> => {
    const id = parseAccountId(request.pathId);
    const [account] = id ? await services.operated.accountsOf([id]) : [];
    if (!account) throw accountNotFound();
    return list(request, { ...caller, account }, services);
  };
}

export const listAccountCreations: ReadHandle<'listAccountCreations'> = ofAccount(listPortalCreations);
export const listAccountLedger: ReadHandle<'listAccountLedger'> = ofAccount(listLedger);
export const listAccountKeys: ReadHandle<'listAccountKeys'> = ofAccount(listKeys);
export const listAccountPeople: ReadHandle<'listAccountPeople'> = ofAccount(listPeople);
export const listAccountDeliveries: ReadHandle<'listAccountDeliveries'> = ofAccount(listDeliveries);
export const listAccountRequests: ReadHandle<'listAccountRequests'> = ofAccount(listPortalRequests);

/** GET /operator/creations/{id}: the creation of any account. */
export const showOperatedCreation: ReadHandle<'showOperatedCreation'> = async (
  { pathId },
  { nowMillis },
  services,
) => {
  const { creations, deliveries, reads, operated, results } = services;
  const id = parseCreationId(pathId);
  const creation = id && (await creations.read(id));
  if (!creation) throw creationNotFound();
  const [attempts, keys, accounts, requestId] = await Promise.all([
    deliveries.ofCreation(creation),
    reads.keys(creation.accountId),
    operated.accountsOf([creation.accountId]),
    operated.requestOf(creation),
  ]);
  const keyNames = new Map(keys.map(({ id: key, name }) => [key, name]));
  const showing = { keyNames, addressOf: await results.of([creation]), nowMillis };
  const body: OperatedCreation = {
    ...creationDetail(creation, attempts, showing),
    account: creation.accountId,
    account_name: accounts[0]?.name ?? '',
    request_id: requestId ?? null,
    deadline_at: new Date(creation.deadlineAt).toISOString(),
    attempts: creation.attempts.map(attemptView),
  };
  return { status: 200, body };
};

function attemptView(attempt: RouteAttempt): OperatedCreation['attempts'][number] {
  const { startedAt, endedAt, billedMicros, providerCostMicros } = attempt;
  const cost = billedMicros ?? providerCostMicros;
  return {
    provider: attempt.provider,
    model: attempt.providerModel,
    started_at: startedAt,
    ms: endedAt === undefined ? null : Date.parse(endedAt) - Date.parse(startedAt),
    outcome: attempt.outcome ?? 'unknown',
    detail: attempt.detail ?? null,
    cost: cost === undefined ? null : toUsd(cost),
  };
}
