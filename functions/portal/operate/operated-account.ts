/** An account in the operator's pages: read, shown, and noted in its own log. */
import type { Account } from '../../../core/account.ts';
import type { PortalOperationName } from '../../../core/contract.ts';
import { parseAccountId, type AccountId } from '../../../core/ids.ts';
import { asMicros, toUsd } from '../../../core/money.ts';
import type { Action } from '../../../core/ports/actions.ts';
import { accountVersion } from '../../../core/portal/version.ts';
import type { OperatedAccount } from '../../../core/portal/views.ts';
import { Problem } from '../../../core/problem.ts';
import type { OperateServices } from '../../services/portal-operate.ts';
import type { PersonCaller } from '../http/caller.ts';

export function operatedView(account: Account): OperatedAccount {
  const { limits, availableMicros, creditLineMicros } = account;
  return {
    id: account.id,
    name: account.name,
    condition: account.condition,
    available: toUsd(availableMicros),
    balance: toUsd(asMicros(availableMicros - creditLineMicros)),
    credit_line: toUsd(creditLineMicros),
    in_flight: account.inFlight,
    limits: {
      post_rate: limits.postRate,
      get_rate: limits.getRate,
      max_concurrent: limits.maxConcurrent,
      deadline_seconds: limits.deadlineSeconds,
      max_unused_uploads: limits.maxUnusedUploads,
    },
    webhook_failures: account.webhookFailures ?? (account.noticeUrl === undefined ? null : 0),
    created_at: account.createdAt,
    version: accountVersion(account),
  };
}

/** The account that the path names. Throws 404. */
export async function readOperated(
  pathId: string,
  { accounts }: Pick<OperateServices, 'accounts'>,
): Promise<Account> {
  const id = parseAccountId(pathId);
  const account = id && (await accounts.read(id));
  if (!account) throw new Problem('ERR_NOT_FOUND', 'There is no account with this id.');
  return account;
}

/**
 * Notes in the account's own log what the operator does to it. The row comes before the work, so that no work is
 * without a row. The operator's own log names the person.
 */
export async function inAccountLog<Result>(
  accountId: AccountId,
  operation: { readonly name: PortalOperationName; readonly note: string },
  { person }: PersonCaller,
  { actions, clock, randomBytes }: Pick<OperateServices, 'actions' | 'clock' | 'randomBytes'>,
  work: () => Promise<Result>,
): Promise<Result> {
  const at = new Date(clock.now()).toISOString();
  const action: Action = {
    scope: accountId,
    id: `${at}#${Buffer.from(randomBytes(6)).toString('base64url')}`,
    at,
    personId: person.id,
    email: 'the operator',
    action: operation.name,
    outcome: 'begun',
    note: operation.note,
  };
  await actions.begin(action);
  try {
    const result = await work();
    await actions.end(action, { outcome: 'done' });
    return result;
  } catch (error) {
    if (error instanceof Problem && error.status < 500)
      await actions.end(action, { outcome: 'refused', note: error.code });
    throw error;
  }
}
