import type { UsageLine, UsageView } from '../../../service/contract/portal-views.ts';
import { useResource } from '../api/hooks.ts';
import { setQuery, usePlace } from '../router.ts';
import { Card, Clip, Figures, Money } from '../ui/basics.tsx';
import { Field, Select } from '../ui/form.tsx';
import { Page } from '../ui/page.tsx';
import { Empty, Loaded } from '../ui/states.tsx';
import { Table } from '../ui/table.tsx';
import { dayText, digitsFor, durationText, money, utcDay } from '../words/figures.ts';
import { BudgetCard } from './parts/budget.tsx';
import { Export } from './parts/export.tsx';

/** Stacked bars, a bar a day. A table beside them has the same figures for screen readers. */
const width = 720;
const height = 180;
const space = 22;
/** A line for each quarter of the scale. */
const quarters = [0, 0.5, 1];

/** The next "round" amount: 1, 2, 2.5, 5 times a power of ten. */
function roundUp(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  const step = [1, 2, 2.5, 5, 10].find((one) => one * power >= value * 0.999_999) ?? 10;
  return step * power;
}

function Bars({ days, nameOf }: { days: UsageView['days']; nameOf: (group: string) => string }) {
  const sums = new Map<string, number>();
  for (const { spent } of days)
    for (const [group, amount] of Object.entries(spent)) sums.set(group, (sums.get(group) ?? 0) + amount);
  const groups = [...sums].sort(([, one], [, other]) => other - one).map(([group]) => group);
  const totalOf = (day: UsageView['days'][number]): number =>
    Object.values(day.spent).reduce((sum, one) => sum + one, 0);
  const top = roundUp(Math.max(0, ...days.map(totalOf)));
  const step = width / Math.max(1, days.length);
  const bar = Math.max(1, Math.min(28, step * 0.72));
  const labelled = [0, Math.floor((days.length - 1) / 2), days.length - 1];
  return (
    <div class="bars">
      <svg viewBox={`-72 -16 ${width + 80} ${height + space + 20}`} aria-hidden="true">
        {quarters.map((part) => (
          <g key={part} transform={`translate(0 ${height * (1 - part)})`}>
            <line x2={width} />
            <text x="-8" y="4" text-anchor="end">
              {money(top * part)}
            </text>
          </g>
        ))}
        {days.map((day, index) => {
          let y = height;
          return (
            <g key={day.day} transform={`translate(${index * step + (step - bar) / 2} 0)`}>
              <title>{`${dayText(day.day)}: ${money(totalOf(day))}`}</title>
              <rect class="ground" width={bar} height={height} />
              {groups.map((group, place) => {
                const size = (Math.max(0, day.spent[group] ?? 0) / top) * height;
                y -= size;
                return size > 0 ? (
                  <rect key={group} class={`series-${place % 8}`} y={y} width={bar} height={size} />
                ) : null;
              })}
            </g>
          );
        })}
        {[...new Set(labelled)].map((index) => {
          const day = days[index];
          return day ? (
            <text
              key={day.day}
              x={index === 0 ? 0 : index === days.length - 1 ? width : index * step + step / 2}
              y={height + 18}
              text-anchor={index === 0 ? 'start' : index === days.length - 1 ? 'end' : 'middle'}
            >
              {dayText(day.day)}
            </text>
          ) : null;
        })}
      </svg>
      {groups.length > 1 && (
        <ul class="legend" aria-hidden="true">
          {groups.map((group, place) => (
            <li key={group}>
              <span class={`series-${place % 8}`} />
              {nameOf(group)}
            </li>
          ))}
        </ul>
      )}
      <div class="hidden">
        <table>
          <caption>Spend by day</caption>
          <thead>
            <tr>
              <th scope="col">Day</th>
              {groups.map((group) => (
                <th key={group} scope="col">
                  {nameOf(group)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {days.map((day) => (
              <tr key={day.day}>
                <th scope="row">{day.day}</th>
                {groups.map((group) => (
                  <td key={group}>{money(day.spent[group] ?? 0)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

const dimensions = ['day', 'key', 'model', 'user'] as const;
type Dimension = (typeof dimensions)[number];
const dayMillis = 86_400_000;
const ranges = [
  { value: '7', label: 'Last 7 days' },
  { value: '30', label: 'Last 30 days' },
  { value: '90', label: 'Last 90 days' },
  { value: '365', label: 'Last year' },
  { value: 'own', label: 'Custom range' },
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
      <Loaded of={usage}>
        {(data) => (
          <>
            <BudgetCard of={data.month} onReload={usage.reload} />
            <Content data={data} by={by} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

/** A forecast has no fractions of a cent. */
const round = (amount: number): number => Math.round(amount * 100) / 100;
const percent = (share: number): string => `${(share * 100).toFixed(share === 1 ? 0 : 1)} %`;

function Content({ data, by }: { data: UsageView; by: Dimension }) {
  if (data.total.creations === 0 && data.total.charged === 0) {
    return (
      <Empty title="No usage in these days">
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
      <Figures
        rows={[
          ['Spent', <Money of={data.total.spent} />],
          [
            'This month',
            <Money of={data.month.spent} />,
            data.month.at_end === null ? undefined : (
              <>
                about <Money of={round(data.month.at_end)} /> at its end, by the mean of the last seven days
              </>
            ),
          ],
          [
            'Creations',
            data.total.creations.toLocaleString('en-US'),
            data.total.failed > 0 ? `${data.total.failed} failed` : undefined,
          ],
          ['Success rate', data.success_rate === null ? '–' : percent(data.success_rate)],
          [
            'Time to the image',
            data.seconds ? durationText(data.seconds.p50 * 1000) : '–',
            data.seconds
              ? `median; 95 % within ${durationText(data.seconds.p95 * 1000)}; of the newest ${data.seconds.of}`
              : undefined,
          ],
        ]}
      />
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
        [by, (line) => <Clip text={lineName(line)} />],
        ['Creations', ({ creations }) => creations.toLocaleString('en-US'), 'number'],
        ['Failed', ({ failed }) => failed.toLocaleString('en-US'), 'number wide'],
        ['Charged', ({ charged }) => <Money of={charged} digits={digits} />, 'number wide'],
        ['Refunded', ({ refunded }) => <Money of={refunded} digits={digits} />, 'number wide'],
        ['Spent', ({ spent }) => <Money of={spent} digits={digits} />, 'number'],
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
