import { openAccount as open, openingReference } from '../../../core/operated-account.ts';
import { asMicros, formatUsd, largestAvailableMicros } from '../../../core/money.ts';
import { invalidRequest, Problem } from '../../../core/problem.ts';
import type { OperateServices } from '../../services/portal-operate.ts';
import { microsOf, parseBody } from '../http/body.ts';
import type { PortalHandle } from '../http/caller.ts';
import { limitsIn, newAccountSchema } from './account-body.ts';
import { inAccountLog, operatedView, readOperated } from './operated-account.ts';

/**
 * POST /operator/accounts. An operator who lost the answer looks at the list: a repetition opens another account.
 */
export const openAccount: PortalHandle<'openAccount', OperateServices> = async (
  request,
  caller,
  services,
) => {
  const body = parseBody(request, newAccountSchema);
  const outcome = await open(
    {
      name: body.name,
      limits: { ...services.defaultLimits, ...limitsIn(body.limits) },
      balanceMicros: body.balance === undefined ? asMicros(0) : microsOf(body.balance),
      creditLineMicros: body.credit_line === undefined ? asMicros(0) : microsOf(body.credit_line),
    },
    services,
  );
  switch (outcome.kind) {
    case 'opened': {
      const note = `opened with ${formatUsd(microsOf(body.balance ?? 0))}`;
      const view = await inAccountLog(outcome.id, { name: 'openAccount', note }, caller, services, async () =>
        operatedView(await readOperated(outcome.id, services)),
      );
      return { status: 201, body: view, logged: { target: outcome.id, note: body.name } };
    }
    case 'out_of_range': {
      const message = `with the credit line at most ${formatUsd(largestAvailableMicros)}`;
      throw invalidRequest([{ field: 'balance', code: 'too_big', message }]);
    }
    case 'id_taken':
      throw new Error('the id drawn for the account is taken');
    case 'half_made':
      services.log.info('account_half_made', { accountId: outcome.id });
      throw halfMade(outcome.id);
  }
};

/** 409: a repetition would open another account. */
function halfMade(id: string): Problem {
  const message = `The account ${id} was opened, but its balance or credit line may be missing. Look at it, and top it up with the reference "${openingReference}", which counts once.`;
  return new Problem('ERR_CONFLICT', message, { reason: 'half_made', account: id });
}
