/** Moments as people write them. */

const form = /^(\d{4})-(\d\d)-(\d\d)T\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/i;

/** The Unix milliseconds of a moment of RFC 3339. Undefined for every other text, and for 30 February. */
export function readMoment(text: string): number | undefined {
  const match = form.exec(text.trim());
  const [, year, month, day] = (match ?? []).map(Number);
  const isDay = new Date(Date.UTC(year ?? NaN, (month ?? NaN) - 1, day)).getUTCDate() === day;
  const millis = Date.parse(text.trim());
  return isDay && !Number.isNaN(millis) ? millis : undefined;
}
