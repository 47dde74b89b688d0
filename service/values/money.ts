declare const micros: unique symbol;
/** Whole micro-dollars: 1 USD is 1,000,000. All money inside Darkroom is of this type. */
export type Micros = number & { readonly [micros]: true };

export const microsPerUsd = 1_000_000;
export const microsOfCent = 10_000;
const largestUsd = 1_000_000_000;
/** The most that an account can have to spend: 10^9 USD, far below where floats stop being exact. */
export const largestAvailableMicros = asMicros(largestUsd * microsPerUsd);

/** Marks an integer as micro-dollars. Throws for another number, which only a defect can make. */
export function asMicros(value: number): Micros {
  if (!isMicros(value)) throw new Error(`not a whole number of micro-dollars: ${value}`);
  return value;
}

function isMicros(value: number): value is Micros {
  return Number.isSafeInteger(value);
}

/** The sum in USD for an answer or a webhook. At most 6 decimals, exact for every sum below 10^9 USD. */
export function toUsd(amount: Micros): number {
  return amount / microsPerUsd;
}

/** Reads an operator's amount in USD: a decimal number, at most 6 decimals, at most 10^9. */
export function parseUsd(text: string): Micros | undefined {
  const match = /^(-?)(\d{1,10})(?:\.(\d{1,6}))?$/.exec(text.trim());
  if (!match) return undefined;
  const [, sign = '', whole = '', fraction = ''] = match;
  const value = Number(whole) * microsPerUsd + Number(fraction.padEnd(6, '0'));
  if (value > largestUsd * microsPerUsd) return undefined;
  return asMicros(sign === '-' && value !== 0 ? -value : value);
}

/** Whether a number in USD has at most 6 decimals. The doubles of larger sums have no room for more. */
export function hasAtMostSixDecimals(usd: number): boolean {
  return usd >= largestUsd || Math.round(usd * microsPerUsd) / microsPerUsd === usd;
}

/** Micro-dollars of a USD number from our own files. Throws when the number has more than 6 decimals. */
export function fromUsd(usd: number): Micros {
  const value = Math.round(usd * microsPerUsd);
  if (Math.abs(value / microsPerUsd - usd) > 1e-9) throw new Error(`more than 6 decimals: ${usd}`);
  return asMicros(value);
}

/** A sum for people, such as "0.04 USD": at least two decimals, and no more than the sum needs. */
export function formatUsd(amount: Micros): string {
  const [whole = '0', fraction = ''] = toUsd(amount).toFixed(6).split('.');
  return `${whole}.${fraction.replace(/0+$/, '').padEnd(2, '0')} USD`;
}
