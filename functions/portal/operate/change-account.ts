import { setCreditLine } from '../../../core/operated-account.ts';
import { formatUsd, largestAvailableMicros } from '../../../core/money.ts';
import { accountVersion } from '../../../core/portal/version.ts';
import { invalidRequest, Problem } from '../../../core/problem.ts';
import type { OperateServices } from '../../services/portal-operate.ts';
import { microsOf, parseBody } from '../http/body.ts';
import type { PortalHandle } from '../http/caller.ts';
import { changedMeanwhile } from '../http/portal-problems.ts';
import { accountChangeSchema, limitsIn } from './account-body.ts';
import { inAccountLog, operatedView, readOperated } from './operated-account.ts';

/**
 * PATCH /operator/accounts/{id}: changes what the body names, from the account's next request on. The credit line
 * comes last, because its write can be refused by itself. A repetition changes nothing more. With a version, nothing
 * that somebody else changed meanwhile is changed.
 */
export const changeAccount: PortalHandle<'changeAccount', OperateServices> = async (
  request,
  caller,
  services,
) => {
  const body = parseBody(request, accountChangeSchema, (given) => [
    Object.keys(given).every((one) => one === 'version')
      ? { field: 'body', code: 'required', message: 'must name something to change' }
      : undefined,
  ]);
  const account = await readOperated(request.pathId, services);
  if (body.version !== undefined && body.version !== accountVersion(account)) throw changedMeanwhile();
  const { name, condition } = body;
  const change = {
    ...limitsIn(body.limits),
    ...(name !== undefined && { name }),
    ...(condition !== undefined && { condition }),
  };
  const note = [
    ...(condition === undefined ? [] : [condition]),
    ...(name === undefined ? [] : ['name']),
    ...(body.limits === undefined ? [] : ['limits']),
    ...(body.credit_line === undefined ? [] : [`credit line ${formatUsd(microsOf(body.credit_line))}`]),
  ].join(', ');
  await inAccountLog(account.id, { name: 'changeAccount', note }, caller, services, async () => {
    if (Object.keys(change).length > 0) {
      if (body.version === undefined) await services.accounts.change(account.id, change);
      else if (!(await services.accounts.changeAsRead(account, change))) throw changedMeanwhile();
    }
    if (body.credit_line === undefined) return;
    const outcome = await setCreditLine(account, microsOf(body.credit_line), services);
    if (outcome === 'changed_meanwhile') throw creditLineChanged();
    if (outcome === 'out_of_range') throw tooMuch();
  });
  return {
    status: 200,
    body: operatedView(await readOperated(account.id, services)),
    logged: { note },
  };
};

function creditLineChanged(): Problem {
  const message = 'Somebody changed the credit line meanwhile. All else was changed: look again.';
  return new Problem('ERR_CONFLICT', message, { reason: 'changed_meanwhile' });
}

function tooMuch(): Problem {
  const message = `with the balance at most ${formatUsd(largestAvailableMicros)}`;
  return invalidRequest([{ field: 'credit_line', code: 'too_big', message }]);
}
