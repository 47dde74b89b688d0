import * as z from 'zod/mini';
import { formatUsd, largestAvailableMicros, toUsd } from '../../../core/money.ts';
import { topUp } from '../../../core/operated-account.ts';
import { invalidRequest, Problem } from '../../../core/problem.ts';
import type { OperateServices } from '../../services/portal-operate.ts';
import { microsOf, parseBody, shownText, usd } from '../http/body.ts';
import type { PortalHandle } from '../http/caller.ts';
import { inAccountLog, operatedView, readOperated } from './operated-account.ts';

const topUpSchema = z.strictObject({ amount: usd('above zero'), reference: shownText('reference') });

/** POST /operator/accounts/{id}/top-up: a reference counts once, so a repetition is safe. */
export const topUpAccount: PortalHandle<'topUpAccount', OperateServices> = async (
  request,
  caller,
  services,
) => {
  const body = parseBody(request, topUpSchema);
  const account = await readOperated(request.pathId, services);
  const amount = microsOf(body.amount);
  const note = `${formatUsd(amount)}: ${body.reference}`;
  const isNew = await inAccountLog(account.id, { name: 'topUpAccount', note }, caller, services, async () => {
    const outcome = await topUp(account.id, amount, body.reference, services);
    switch (outcome.kind) {
      case 'applied':
      case 'already_applied':
        return outcome.kind === 'applied';
      case 'reference_taken': {
        const { kind, amountMicros } = outcome.by;
        const what = kind === 'top_up' ? 'a top-up' : 'an adjustment';
        const message = `The reference stands for ${what} of ${formatUsd(amountMicros)}. Nothing was changed: use another reference.`;
        const details = { reason: 'reference_taken', kind, amount: toUsd(amountMicros) };
        throw new Problem('ERR_CONFLICT', message, details);
      }
      case 'out_of_range': {
        const message = `what an account can spend is at most ${formatUsd(largestAvailableMicros)}`;
        throw invalidRequest([{ field: 'amount', code: 'too_big', message }]);
      }
    }
  });
  return {
    status: 200,
    body: { ...operatedView(await readOperated(account.id, services)), already_applied: !isNew },
    logged: { note: isNew ? note : `${note} (was applied before)` },
  };
};
