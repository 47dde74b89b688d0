/** The times in a trace. */

const minuteMillis = 60_000;

/** Writes times as Date.toISOString does. It writes the minute of the last time only once, which is quick. */
export function createStamps(): (epochMillis: number) => string {
  let minute = Number.NaN;
  let beginning = '';
  return (epochMillis) => {
    const current = Math.floor(epochMillis / minuteMillis);
    if (current !== minute) {
      minute = current;
      beginning = new Date(minute * minuteMillis).toISOString().slice(0, 'yyyy-mm-ddThh:mm:'.length);
    }
    const rest = Math.floor(epochMillis - minute * minuteMillis);
    return `${beginning}${digits(Math.floor(rest / 1000), 2)}.${digits(rest % 1000, 3)}Z`;
  };
}

function digits(value: number, count: number): string {
  return String(value).padStart(count, '0');
}
