import { useResource } from '../../api/hooks.ts';
import type { MarginView } from '../../../../core/portal/views.ts';
import { setQuery, usePlace } from '../../router.ts';
import { Select } from '../../ui/form.tsx';
import { Page } from '../../ui/page.tsx';
import { Empty, Loaded } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { money } from '../../words/money.ts';
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

const words = (name: string): string => name.replaceAll('_', ' ');
const isAmount = (name: string): boolean =>
  /(^|_)(revenue|cost|margin|unknown|difference)$/.test(name) && name !== 'cost_unknown';
/** What is only seldom more than nothing: left out when it is nothing in every line. */
const isSeldom = (name: string): boolean => /unknown|unclear|billed/.test(name);

function cell(name: string, value: string | number | null | undefined): string {
  if (value === null || value === undefined) return '–';
  if (typeof value === 'string') return value;
  if (isAmount(name)) return money(value);
  return name.endsWith('percent') ? `${value} %` : value.toLocaleString('en-US');
}

/** The service names the columns, so that this table says what `npm run admin -- report` says. */
function MarginTable({ data, by }: { data: MarginView; by: string }) {
  const names = Object.keys(data.lines[0] ?? {}).filter(
    (name) => !isSeldom(name) || (data.total[name] ?? 0) !== 0,
  );
  const [first] = names;
  if (first === undefined) return <Empty title="Nothing was sold in these days" />;
  return (
    <Table
      caption={`Margin by ${by}`}
      rows={data.lines}
      keyOf={(line) => String(line[first])}
      columns={names.map((name, index) => ({
        head: name === 'group' ? by : words(name),
        isNumber: index > 0,
        isWide: index > 0 && index < names.length - 2,
        cell: (line: Line) => cell(name, line[name]),
      }))}
      foot={
        <tr>
          {names.map((name, index) =>
            index === 0 ? (
              <th key={name} scope="row">
                Total
              </th>
            ) : (
              <td key={name} class={index < names.length - 2 ? 'number wide' : 'number'}>
                {cell(name, data.total[name])}
              </td>
            ),
          )}
        </tr>
      }
    />
  );
}
