/** Keys of the operator API, and the margin, in the pages of the operator. */
import type { MarginFigures, MarginView } from '../../contract/portal-views.ts';
import { checkReportedDays, marginOf } from '../../operated/margin.ts';
import { operatorKeyView } from '../../operated/operator-key-view.ts';
import { marginDimensions } from '../../usage/margin.ts';
import { choiceOf, daysOf, oneOf, parametersOf } from '../../operated/parameters.ts';
import type { OperateHandle } from './open.ts';

/** GET /operator/keys: the keys of the operator API. Only the command makes and changes them. */
export const listOperatorKeys: OperateHandle<'listOperatorKeys'> = async (
  _request,
  { nowMillis },
  { operatorKeys },
) => {
  const data = (await operatorKeys.list()).map((key) => operatorKeyView(key, nowMillis));
  return { status: 200, body: { data, next_cursor: null } };
};

export const getMargin: OperateHandle<'getMargin'> = async (request, caller, { operated }) => {
  const parameters = parametersOf(request);
  const by = parameters.read('by', oneOf(marginDimensions), choiceOf(marginDimensions)) ?? 'day';
  const days = daysOf(parameters, caller.nowMillis);
  checkReportedDays(days);
  const { lines, total, moneyIn } = await marginOf(operated, days, by);
  const view: MarginView = {
    ...days,
    by,
    lines: lines as unknown as MarginView['lines'],
    total: total as unknown as MarginFigures,
    money_in: moneyIn as unknown as MarginView['money_in'],
  };
  return { status: 200, body: view };
};
