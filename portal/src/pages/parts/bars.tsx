/** Stacked bars, a bar a day. A table beside them has the same figures for screen readers. */
import type { UsageView } from '../../../../service/contract/portal-views.ts';
import { money } from '../../words/money.ts';
import { dayText } from '../../words/time.ts';

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

export function Bars({ days, nameOf }: { days: UsageView['days']; nameOf: (group: string) => string }) {
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
