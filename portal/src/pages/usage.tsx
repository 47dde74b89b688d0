import { useResource } from '../api/hooks.ts';
import type { UsageLine, UsageView } from '../../../service/contract/portal-views.ts';
import { setQuery, usePlace } from '../router.ts';
import { Card, Clip, Figure, Money } from '../ui/basics.tsx';
import { Field, Select } from '../ui/form.tsx';
import { Page } from '../ui/page.tsx';
import { Empty, Loaded } from '../ui/states.tsx';
import { Table } from '../ui/table.tsx';
import { digitsFor } from '../words/money.ts';
import { durationText, utcDay } from '../words/time.ts';
import { Bars } from './parts/bars.tsx';
import { Export } from './parts/export.tsx';

const dimensions = ['day', 'key', 'model', 'user'] as const;
type Dimension = (typeof dimensions)[number];
const dayMillis = 86_400_000;
const ranges = [
  { value: '7', label: 'Last 7 days' },
  { value: '30', label: 'Last 30 days' },
  { value: '90', label: 'Last 90 days' },
  { value: '365', label: 'Last year' },
  { value: 'own', label: 'Own range' },
];

/** The days that the address names, or the last thirty. */
export function useDays(): { readonly from: string; readonly to: string; readonly range: string } {
  const { query } = usePlace();
  const today = utcDay(Date.now());
  const range = query.get('range') ?? '30';
  if (range === 'own') return { from: query.get('from') ?? today, to: query.get('to') ?? today, range };
  const count = Math.min(366, Math.max(1, Number.parseInt(range, 10) || 30));
  return { from: utcDay(Date.now() - (count - 1) * dayMillis), to: today, range };
}

export function DayFields({
  from,
  to,
  range,
  mostDays = 366,
}: ReturnType<typeof useDays> & { mostDays?: number }) {
  const day = (label: string, name: 'from' | 'to', value: string) => (
    <Field label={label}>
      {(ids) => (
        <input
          {...ids}
          type="date"
          value={value}
          onChange={(event) => {
            if (event.currentTarget.value !== '') setQuery({ [name]: event.currentTarget.value });
          }}
        />
      )}
    </Field>
  );
  return (
    <>
      <Select
        label="Days (UTC)"
        value={range}
        options={ranges.filter(({ value }) => value === 'own' || Number(value) <= mostDays)}
        onChange={(value) =>
          setQuery(value === 'own' ? { range: value, from, to } : { range: value, from: '', to: '' })
        }
      />
      {range === 'own' && (
        <>
          {day('From', 'from', from)}
          {day('To', 'to', to)}
        </>
      )}
    </>
  );
}

export function Usage() {
  const { query } = usePlace();
  const days = useDays();
  const by = dimensions.find((one) => one === query.get('by')) ?? 'day';
  const asked = { from: days.from, to: days.to, by };
  const usage = useResource('getUsage', { query: asked });
  return (
    <Page
      title="Usage"
      lead="A refund counts on the day of its charge."
      actions={
        <Export
          operation="exportUsage"
          query={asked}
          file={`darkroom-usage-${asked.from}-${asked.to}-${by}.csv`}
          label="Download CSV"
        />
      }
    >
      <div class="filters">
        <DayFields {...days} />
        <Select
          label="By"
          value={by}
          options={dimensions.map((value) => ({ value, label: value }))}
          onChange={(value) => setQuery({ by: value })}
        />
      </div>
      <Loaded of={usage}>{(data) => <Content data={data} by={by} />}</Loaded>
    </Page>
  );
}

const percent = (share: number): string => `${(share * 100).toFixed(share === 1 ? 0 : 1)} %`;

function Content({ data, by }: { data: UsageView; by: Dimension }) {
  if (data.total.creations === 0 && data.total.charged === 0) {
    return (
      <Empty title="Nothing was used in these days">
        <p>Choose other days.</p>
      </Empty>
    );
  }
  const nameOf = (group: string): string => {
    const line = data.lines.find((one) => (one.group ?? '') === group);
    return line ? lineName(line) : group;
  };
  return (
    <>
      <dl class="figures">
        <Figure name="Spent">
          <Money of={data.total.spent} />
        </Figure>
        <Figure name="Creations" note={data.total.failed > 0 ? `${data.total.failed} failed` : undefined}>
          {data.total.creations.toLocaleString('en-US')}
        </Figure>
        <Figure name="Success rate">{data.success_rate === null ? '–' : percent(data.success_rate)}</Figure>
        <Figure
          name="Time to the image"
          note={
            data.seconds
              ? `median; 95 % within ${durationText(data.seconds.p95 * 1000)}; of the newest ${data.seconds.of}`
              : undefined
          }
        >
          {data.seconds ? durationText(data.seconds.p50 * 1000) : '–'}
        </Figure>
      </dl>
      <Card title="Spend by day">
        <Bars days={data.days} nameOf={by === 'day' ? () => 'spent' : nameOf} />
      </Card>
      <UsageTable data={data} by={by} />
      {data.lines_left_out !== undefined && (
        <p class="dim">
          {data.lines_left_out.toLocaleString('en-US')} more lines that spent less are in the CSV file.
        </p>
      )}
    </>
  );
}

const lineName = ({ group, name }: UsageLine): string => name ?? group ?? 'none';

function UsageTable({ data, by }: { data: UsageView; by: Dimension }) {
  const digits = digitsFor(data.lines.map(({ spent }) => spent));
  const { total } = data;
  return (
    <Table
      caption={`Usage by ${by}`}
      rows={data.lines}
      keyOf={({ group }) => group ?? ''}
      columns={[
        { head: by, cell: (line) => <Clip text={lineName(line)} /> },
        { head: 'Creations', isNumber: true, cell: ({ creations }) => creations.toLocaleString('en-US') },
        {
          head: 'Failed',
          isNumber: true,
          isWide: true,
          cell: ({ failed }) => failed.toLocaleString('en-US'),
        },
        {
          head: 'Charged',
          isNumber: true,
          isWide: true,
          cell: ({ charged }) => <Money of={charged} digits={digits} />,
        },
        {
          head: 'Refunded',
          isNumber: true,
          isWide: true,
          cell: ({ refunded }) => <Money of={refunded} digits={digits} />,
        },
        { head: 'Spent', isNumber: true, cell: ({ spent }) => <Money of={spent} digits={digits} /> },
      ]}
      foot={
        <tr>
          <th scope="row">Total</th>
          <td class="number">{total.creations.toLocaleString('en-US')}</td>
          <td class="number wide">{total.failed.toLocaleString('en-US')}</td>
          <td class="number wide">
            <Money of={total.charged} digits={digits} />
          </td>
          <td class="number wide">
            <Money of={total.refunded} digits={digits} />
          </td>
          <td class="number">
            <Money of={total.spent} digits={digits} />
          </td>
        </tr>
      }
    />
  );
}
