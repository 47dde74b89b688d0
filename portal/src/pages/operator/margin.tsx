import { useResource } from '../../api/hooks.ts';
import type { MarginView } from '../../../../core/portal/views.ts';
import { setQuery, usePlace } from '../../router.ts';
import { Select } from '../../ui/form.tsx';
import { Page } from '../../ui/page.tsx';
import { Empty, Loaded } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { DayFields, useDays } from '../usage.tsx';

const dimensions = ['model', 'account', 'provider', 'day'];

export function Margin() {
  const { query } = usePlace();
  const days = useDays();
  const by = dimensions.find((one) => one === query.get('by')) ?? 'model';
  const margin = useResource('getMargin', { query: { from: days.from, to: days.to, by } });
  return (
    <Page title="Margin" above="Operator" lead="Revenue, what providers billed, and what is left.">
      <div class="filters">
        <DayFields {...days} />
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
const cell = (value: string | number | null | undefined): string =>
  value === null || value === undefined
    ? '–'
    : typeof value === 'number'
      ? value.toLocaleString('en-US', { maximumFractionDigits: 6 })
      : value;

/** The service names the columns, so that this table says what `npm run admin -- report` says. */
function MarginTable({ data, by }: { data: MarginView; by: string }) {
  const names = Object.keys(data.lines[0] ?? {});
  const [first] = names;
  if (first === undefined) return <Empty title="Nothing was sold in these days" />;
  return (
    <Table
      caption={`Margin by ${by}`}
      rows={data.lines}
      keyOf={(line) => String(line[first])}
      columns={names.map((name, index) => ({
        head: words(name),
        isNumber: index > 0,
        isWide: index > 0 && index < names.length - 2,
        cell: (line: Line) => cell(line[name]),
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
                {cell(data.total[name])}
              </td>
            ),
          )}
        </tr>
      }
    />
  );
}
