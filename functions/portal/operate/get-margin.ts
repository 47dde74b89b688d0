import { dayAfter } from '../../../core/booked-row.ts';
import { plainCell } from '../../../core/csv.ts';
import { marginCells, marginDimensions, sumMargin } from '../../../core/margin.ts';
import type { MarginFigures, MarginView } from '../../../core/portal/views.ts';
import type { OperateServices } from '../../services/portal-operate.ts';
import type { PortalHandle } from '../http/caller.ts';
import { choiceOf, daysOf, oneOf, parametersOf, wrong } from '../read/parameters.ts';

/** The sums are read from the ledgers of all accounts. For a longer time the command has no limit. */
const mostDays = 31;
const accountsAtOnce = 100;

/** GET /operator/margin: the figures of `report`. */
export const getMargin: PortalHandle<'getMargin', OperateServices> = async (
  request,
  caller,
  { operated },
) => {
  const parameters = parametersOf(request);
  const by = parameters.read('by', oneOf(marginDimensions), choiceOf(marginDimensions)) ?? 'day';
  const days = daysOf(parameters, caller.nowMillis);
  if (Date.parse(dayAfter(days.to)) - Date.parse(days.from) > mostDays * 86_400_000)
    throw wrong('from', `at most ${mostDays} days; the command "report" has no limit`);
  const sums = sumMargin(by);
  const names = new Map<string, string>();
  let after: string | undefined;
  do {
    const page = await operated.accounts(accountsAtOnce, after);
    for (const { id, name } of page.accounts) {
      names.set(id, name);
      for await (const rows of operated.bookedRows(id, days)) for (const row of rows) sums.add(id, row);
    }
    after = page.after;
  } while (after !== undefined);
  const view: MarginView = {
    ...days,
    by,
    lines: sums.groups().map(({ group, sums: own }) => ({
      group,
      ...(by === 'account' && { name: group === null ? null : (names.get(group) ?? null) }),
      ...plain(marginCells(own)),
    })),
    total: plain(marginCells(sums.total())),
  };
  return { status: 200, body: view };
};

function plain(cells: ReturnType<typeof marginCells>): MarginFigures {
  const figures = Object.entries(cells).map(([name, cell]) => [name, plainCell(cell)]);
  return Object.fromEntries(figures) as MarginFigures;
}
