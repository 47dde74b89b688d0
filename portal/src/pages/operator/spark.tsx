/**
 * A small chart of bars beside a figure. The text beside it has the same values, so screen readers skip the
 * chart.
 */
const width = 96;
const height = 24;

/** @param values one bar each, the oldest first. Null: nothing is known of that part. */
export function Spark({ values, most }: { values: readonly (number | null)[]; most?: number }) {
  const top = most ?? Math.max(...values.map((value) => value ?? 0));
  const step = width / values.length;
  return (
    <svg class="spark" viewBox={`0 0 ${width} ${height}`} width={width} height={height} aria-hidden="true">
      {values.map((value, place) => {
        if (value === null) return null;
        // A bar of 0 still shows that something was measured.
        const tall = Math.max(1.5, top === 0 ? 0 : (value / top) * height);
        return (
          <rect
            // A bar is identified by its position.
            // oxlint-disable-next-line react/no-array-index-key
            key={place}
            x={place * step}
            y={height - tall}
            width={step - 1}
            height={tall}
            class={most === 1 && value < 0.9 ? 'low' : ''}
          />
        );
      })}
    </svg>
  );
}

/** The values of the bars in words: "100 %, nothing, 98 %". */
export function inWords(values: readonly (number | null)[], wordOf: (value: number) => string): string {
  return values.map((value) => (value === null ? 'nothing' : wordOf(value))).join(', ');
}
