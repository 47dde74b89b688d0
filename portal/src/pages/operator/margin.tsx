import { useResource } from '../../api/hooks.ts';
import type { MarginFigure, MarginView } from '../../../../service/contract/portal-views.ts';
import { setQuery, usePlace } from '../../router.ts';
import { Clip } from '../../ui/basics.tsx';
import { Select } from '../../ui/form.tsx';
import { Page } from '../../ui/page.tsx';
import { Empty, Loaded } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { money } from '../../words/figures.ts';
import { DayFields, useDays } from '../usage.tsx';

/** The service reads no more at once. The command `report` has no limit. */
const mostDays = 31;
const dimensions = ['model', 'account', 'provider', 'day'];

export function Margin() {
  const { query } = usePlace();
  const days = useDays();
  const by = dimensions.find((one) => one === query.get('by')) ?? 'model';
  const margin = useResource('getMargin', { query: { from: days.from, to: days.to, by } });
  return (
    <Page
      title="Margin"
      above="Operator"
      lead="Revenue, what providers billed, and what is left: at most 31 days. The command “report” has no limit."
    >
      <div class="filters">
        <DayFields {...days} mostDays={mostDays} />
        <Select
          label="By"
          value={by}
          options={dimensions.map((value) => ({ value, label: value }))}
          onChange={(value) => setQuery({ by: value })}
        />
      </div>
      <Loaded of={margin}>{(data) => <MarginTable data={data} by={by} />}</Loaded>
    </Page>
  );
}

type Line = MarginView['lines'][number];

interface Figure {
  readonly head: string;
  readonly as: 'count' | 'amount' | 'percent';
  /** 'narrow': also on a phone. 'seldom': only when some line has a value above 0. */
  readonly shown: 'narrow' | 'wide' | 'seldom';
}

/** Every figure of the service, in the order of the columns. */
const figures: Readonly<Record<MarginFigure, Figure>> = {
  creations: { head: 'Creations', as: 'count', shown: 'wide' },
  failed: { head: 'Failed', as: 'count', shown: 'wide' },
  revenue: { head: 'Revenue', as: 'amount', shown: 'narrow' },
  provider_cost: { head: 'Provider cost', as: 'amount', shown: 'wide' },
  margin: { head: 'Margin', as: 'amount', shown: 'narrow' },
  margin_percent: { head: 'Margin %', as: 'percent', shown: 'narrow' },
  cost_unknown: { head: 'Cost unknown', as: 'count', shown: 'seldom' },
  revenue_cost_unknown: { head: 'Revenue without a known cost', as: 'amount', shown: 'seldom' },
  unclear: { head: 'Unclear', as: 'count', shown: 'seldom' },
  unclear_cost: { head: 'Unclear cost', as: 'amount', shown: 'seldom' },
  billed: { head: 'Billed', as: 'count', shown: 'seldom' },
  billed_cost: { head: 'Billed cost', as: 'amount', shown: 'seldom' },
  billed_catalog_cost: { head: 'Billed cost by the catalog', as: 'amount', shown: 'seldom' },
  billed_difference: { head: 'Difference', as: 'amount', shown: 'seldom' },
  billed_difference_percent: { head: 'Difference in %', as: 'percent', shown: 'seldom' },
};
const names = Object.keys(figures) as MarginFigure[];

function cell(name: MarginFigure, value: number | null): string {
  if (value === null) return '–';
  switch (figures[name].as) {
    case 'count':
      return value.toLocaleString('en-US');
    case 'amount':
      return money(value);
    case 'percent':
      return `${value} %`;
  }
}

function MarginTable({ data, by }: { data: MarginView; by: string }) {
  if (data.lines.length === 0) return <Empty title="No sales in these days" />;
  const shown = names.filter((name) => figures[name].shown !== 'seldom' || (data.total[name] ?? 0) !== 0);
  const isWide = (name: MarginFigure): boolean => figures[name].shown !== 'narrow';
  return (
    <Table
      caption={`Margin by ${by}`}
      rows={data.lines}
      keyOf={({ group }) => String(group)}
      columns={[
        [by, ({ name, group }: Line) => <Clip text={name ?? group ?? 'none'} />],
        ...shown.map((name): Column<Line> => [
          figures[name].head,
          (line) => cell(name, line[name]),
          isWide(name) ? 'number wide' : 'number',
        ]),
      ]}
      foot={
        <tr>
          <th scope="row">Total</th>
          {shown.map((name) => (
            <td key={name} class={isWide(name) ? 'number wide' : 'number'}>
              {cell(name, data.total[name])}
            </td>
          ))}
        </tr>
      }
    />
  );
}
